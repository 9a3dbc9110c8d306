import type { JsonObject, JsonValue, VideoRequest } from '../../models/request.ts';
import { defined } from '../../base/defined.ts';
import { issue } from '../shared/request-issue.ts';
import { passedOn } from '../../models/facts-of-request.ts';
import { readFacts } from '../shared/read-facts.ts';
import type { RequestIssue, SubmitContext } from '../provider.ts';
import { xaiFacts, xaiSoundsMax } from './xai-facts.ts';

export type XaiOperation = 'generations' | 'edits' | 'extensions';

export function xaiOperation({ videos, extra }: Pick<VideoRequest, 'videos' | 'extra'>): XaiOperation {
  if (videos.length === 0) return 'generations';
  return extra['video_task'] === 'extend' ? 'extensions' : 'edits';
}

export function buildXaiVideo(
  request: VideoRequest,
  context: Pick<SubmitContext, 'model' | 'facts'>,
): JsonObject {
  const { model } = context;
  const operation = xaiOperation(request);
  const { prompt, videos, duration, safetyIdentifier } = request;
  const extra = passedOn(request, readFacts(request, xaiFacts, context));
  const seconds = typeof duration === 'number' && operation !== 'edits' ? duration : undefined;
  const own = defined({ prompt: prompt === '' ? undefined : prompt, duration: seconds });
  const [url] = videos;
  if (url !== undefined) {
    // Extensions have no end-user field.
    const user = operation === 'edits' ? safetyIdentifier : undefined;
    return { ...extra, model, ...own, video: { url }, ...defined({ user }) };
  }
  return {
    ...extra,
    model,
    ...own,
    ...images(request),
    ...sounds(request),
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

function sounds({ audios, extra }: VideoRequest): JsonObject {
  if (audios.length === 0) return {};
  return { reference_audios: [...audios.map((url) => ({ url })), ...voicesOf(extra)] };
}

function voicesOf({ reference_audios: voices }: JsonObject): readonly JsonValue[] {
  return Array.isArray(voices) ? voices : [];
}

/** Checks the shared limit of audio files and voices, which the facts table cannot express. */
export function checkXaiSounds({ audios, extra }: VideoRequest): RequestIssue | undefined {
  return audios.length + voicesOf(extra).length > xaiSoundsMax
    ? issue(
        'metadata.reference_audios',
        `audios and metadata.reference_audios together must not contain more than ${xaiSoundsMax} items.`,
      )
    : undefined;
}
