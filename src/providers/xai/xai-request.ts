import type { JsonObject, VideoRequest } from '../../domain/request.ts';
import type { Consumption } from '../../domain/consumption.ts';
import { defined } from '../../domain/defined.ts';

/** Every name in `metadata` that the gateway decides. `video_task` is ours: `edit` (unless said otherwise) or `extend`. */
export const xaiOwnFields = [
  'model',
  'prompt',
  'image',
  'last_frame',
  'reference_images',
  'video',
  'duration',
  'aspect_ratio',
  'resolution',
  'generate_audio',
  'storage_options',
  'output',
  'n',
  'user',
  'video_task',
];
const ownFields = new Set(xaiOwnFields);

export type XaiOperation = 'generations' | 'edits' | 'extensions';

export function xaiOperation({ videos, extra }: Pick<VideoRequest, 'videos' | 'extra'>): XaiOperation {
  if (videos.length === 0) return 'generations';
  return extra['video_task'] === 'extend' ? 'extensions' : 'edits';
}

/** An edit or an extension has the shape of its video, and the sound. */
export function xaiConsumes(request: VideoRequest): Consumption {
  const operation = xaiOperation(request);
  const fields = {
    generations: ['resolution', 'ratio', 'duration', 'generateAudio', 'safetyIdentifier'],
    edits: ['generateAudio', 'safetyIdentifier'],
    extensions: ['duration', 'generateAudio'],
  } as const;
  return {
    fields: fields[operation],
    metadata: (field) => !ownFields.has(field) || field === 'video_task',
  };
}

export function buildXaiVideo(request: VideoRequest, model: string): JsonObject {
  const operation = xaiOperation(request);
  const { prompt, videos, duration, safetyIdentifier } = request;
  const extra = Object.fromEntries(Object.entries(request.extra).filter(([field]) => !ownFields.has(field)));
  const seconds = typeof duration === 'number' && operation !== 'edits' ? duration : undefined;
  const own = defined({ prompt: prompt === '' ? undefined : prompt, duration: seconds });
  const [url] = videos;
  if (url !== undefined) {
    // An extension has no field for the end user.
    const user = operation === 'edits' ? safetyIdentifier : undefined;
    return { ...extra, model, ...own, video: { url }, ...defined({ user }) };
  }
  return {
    ...extra,
    model,
    ...own,
    ...images(request),
    ...defined({
      aspect_ratio: request.ratio === 'adaptive' ? undefined : request.ratio,
      resolution: request.resolution?.toLowerCase(),
      generate_audio: request.generateAudio,
      user: safetyIdentifier,
    }),
  };
}

function images({ firstFrame, lastFrame, references }: VideoRequest): JsonObject {
  const item = (url: string | undefined) => (url === undefined ? undefined : { url });
  return defined({
    image: item(firstFrame),
    last_frame: item(lastFrame),
    reference_images: references.length === 0 ? undefined : references.map((url) => ({ url })),
  });
}
