import type { JsonObject, VideoRequest } from '../../models/request.ts';
import { defined } from '../../base/defined.ts';
import { framesOf } from '../../models/media-roles.ts';
import { isFixedMinimax, minimaxFacts, minimaxVersion } from './minimax-models.ts';
import { passedOn } from '../../models/facts-of-request.ts';
import { readFacts } from '../shared/read-facts.ts';
import type { SubmitContext } from '../provider.ts';

type Context = Pick<SubmitContext, 'model' | 'facts' | 'callbackUrl'>;

export interface MinimaxSubmission {
  readonly path: string;
  readonly json: JsonObject;
}

export function buildMinimaxVideo(request: VideoRequest, context: Context): MinimaxSubmission {
  const { model, callbackUrl } = context;
  const version = minimaxVersion(model);
  const passed = passedOn(request, readFacts(request, minimaxFacts, context));
  const own = version === 2 ? contentBody(request) : plainBody(request, isFixedMinimax(model));
  return {
    path: `/v${version}/video_generation`,
    json: { ...passed, model, ...own, ...defined({ callback_url: callbackUrl }) },
  };
}

const resolutionUnsaid = '768P';
const secondsUnsaid = 5;
const ratioUnsaid = '16:9';

/** Version 2 requires a resolution and a length. */
function contentBody(request: VideoRequest): JsonObject {
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
    resolution: resolution?.toUpperCase() ?? resolutionUnsaid,
    duration: typeof duration === 'number' ? duration : secondsUnsaid,
    ...defined({
      ratio: frames.length > 0 ? undefined : (ratio ?? (media.length === 0 ? ratioUnsaid : undefined)),
      aigc_watermark: watermark,
    }),
  };
}

function plainBody(request: VideoRequest, isFixed: boolean): JsonObject {
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
