import type { JsonObject, VideoRequest } from '../../domain/request.ts';
import type { Consumption } from '../../domain/consumption.ts';
import { defined } from '../../domain/defined.ts';
import { framesOf } from '../../domain/media-roles.ts';
import { minimaxModel } from './minimax-models.ts';
import type { MinimaxModel } from './minimax-models.ts';
import type { SubmitContext } from '../provider.ts';

type Context = Pick<SubmitContext, 'model' | 'callbackUrl'>;

/** Every name in `metadata` that the gateway decides, in either interface. */
export const minimaxOwnFields = [
  'model',
  'content',
  'prompt',
  'resolution',
  'duration',
  'ratio',
  'callback_url',
  'aigc_watermark',
  'first_frame_image',
  'last_frame_image',
  'subject_reference',
  'base_video',
  'source_task_id',
];
const ownFields = new Set(minimaxOwnFields);

/** What cannot be chosen of the sound is refused, and a model of one length and size has both anyway. */
export function minimaxConsumes({ firstFrame }: VideoRequest, name: string): Consumption {
  const isNew = minimaxModel(name).version === 2;
  return {
    fields: [
      ...(['resolution', 'duration', 'generateAudio'] as const),
      ...(isNew ? (['watermark'] as const) : []),
      ...(isNew && firstFrame === undefined ? (['ratio'] as const) : []),
    ],
    metadata: (field) => !ownFields.has(field),
  };
}

export interface MinimaxSubmission {
  readonly path: string;
  readonly json: JsonObject;
}

export function buildMinimaxVideo(request: VideoRequest, context: Context): MinimaxSubmission {
  const model = minimaxModel(context.model);
  const extra = Object.fromEntries(Object.entries(request.extra).filter(([field]) => !ownFields.has(field)));
  const own = model.version === 2 ? contentBody(request, model) : plainBody(request, model);
  return {
    path: `/v${model.version}/video_generation`,
    json: { ...extra, model: context.model, ...own, ...defined({ callback_url: context.callbackUrl }) },
  };
}

const secondsUnsaid = 5;
const ratioUnsaid = '16:9';

/** v2, where resolution and length are required. */
function contentBody(request: VideoRequest, { resolutions }: MinimaxModel): JsonObject {
  const { prompt, references, videos, audios, resolution, duration, ratio, watermark } = request;
  const frames = framesOf(request);
  const item = (type: 'image_url' | 'video_url' | 'audio_url', role: string) => (url: string) => ({
    type,
    [type]: { url },
    role,
  });
  const media = [
    ...frames.map((url, index) => item('image_url', index === 0 ? 'first_frame' : 'last_frame')(url)),
    ...references.map(item('image_url', 'reference_image')),
    ...videos.map(item('video_url', 'reference_video')),
    ...audios.map(item('audio_url', 'reference_audio')),
  ];
  return {
    content: [{ type: 'text', text: prompt }, ...media],
    resolution: resolution?.toUpperCase() ?? resolutions[0] ?? '768P',
    duration: typeof duration === 'number' ? duration : secondsUnsaid,
    ...defined({
      // Frames bring their ratio, text needs one to be named.
      ratio: frames.length > 0 ? undefined : (ratio ?? (media.length === 0 ? ratioUnsaid : undefined)),
      aigc_watermark: watermark,
    }),
  };
}

function plainBody(request: VideoRequest, { isFixed = false }: MinimaxModel): JsonObject {
  const { prompt, firstFrame, lastFrame, references, resolution, duration } = request;
  return defined({
    prompt: prompt === '' ? undefined : prompt,
    first_frame_image: firstFrame,
    last_frame_image: lastFrame,
    subject_reference: references.length === 0 ? undefined : [{ type: 'character', image: [...references] }],
    resolution: isFixed ? undefined : resolution?.toUpperCase(),
    duration: isFixed || typeof duration !== 'number' ? undefined : duration,
  });
}
