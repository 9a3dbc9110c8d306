import { defined } from '../../domain/defined.ts';
import { framesOf } from '../../domain/media-roles.ts';
import type { Consumption } from '../../domain/consumption.ts';
import type { JsonObject, VideoRequest } from '../../domain/request.ts';
import { seedanceFamily } from '../shared/seedance-models.ts';
import type { SubmitContext } from '../provider.ts';

/**
 * Fields of the body that the gateway alone decides, whether it sends them or not. `metadata` never reaches them:
 * they decide what is rendered and billed, who is called back, and how we find the job again.
 */
export const arkOwnFields = [
  'model',
  'content',
  'callback_url',
  'execution_expires_after',
  'safety_identifier',
  'resolution',
  'ratio',
  'duration',
  'seed',
  'watermark',
  'generate_audio',
  'draft',
  'return_last_frame',
  'tools',
] as const;

const own: ReadonlySet<string> = new Set(arkOwnFields);

export function arkConsumes({ extra }: VideoRequest, model: string): Consumption {
  const { draft } = seedanceFamily(model);
  return {
    fields: [
      ...(['resolution', 'ratio', 'seed', 'watermark', 'returnLastFrame', 'tools'] as const),
      'safetyIdentifier',
      // What cannot be chosen of the sound is refused.
      'generateAudio',
      // `frames` takes the place of `duration`.
      ...(extra['frames'] === undefined ? (['duration'] as const) : []),
      ...(draft ? (['draft'] as const) : []),
    ],
    metadata: (name) => !own.has(name),
  };
}

const expiresAfterMinSeconds = 3_600;
const expiresAfterMaxSeconds = 259_200;

export function buildArkVideo(request: VideoRequest, context: SubmitContext): JsonObject {
  const { callbackUrl, marker, remainingSeconds, model } = context;
  const extra = Object.entries(request.extra).filter(([name]) => !own.has(name));
  return {
    ...Object.fromEntries(extra),
    ...outputFields(request, model),
    model,
    content: contentItems(request),
    // The caller's own end-user id wins; then a lost job can only be found by an operator.
    safety_identifier: request.safetyIdentifier ?? marker,
    execution_expires_after: Math.min(
      Math.max(Math.floor(remainingSeconds), expiresAfterMinSeconds),
      expiresAfterMaxSeconds,
    ),
    ...defined({ callback_url: callbackUrl }),
  };
}

function outputFields(request: VideoRequest, model: string): JsonObject {
  const { resolution, ratio, duration, seed, watermark, generateAudio, draft, returnLastFrame, tools } =
    request;
  const family = seedanceFamily(model);
  // `frames` takes the place of `duration`.
  const seconds = request.extra['frames'] === undefined ? duration : undefined;
  const rendered = draft === true ? '480p' : resolution;
  return {
    ...defined({ resolution: rendered }),
    ...defined({ ratio }),
    ...(seconds === undefined ? {} : { duration: seconds === 'auto' ? -1 : seconds }),
    ...defined({ seed }),
    ...defined({ watermark }),
    // A model without sound refuses the field, whatever its value.
    ...(generateAudio === undefined || !family.generatesAudio ? {} : { generate_audio: generateAudio }),
    ...(draft === undefined || !family.draft ? {} : { draft }),
    ...defined({ return_last_frame: returnLastFrame }),
    ...(tools === undefined ? {} : { tools: Array.isArray(tools) ? tools : [tools] }),
  };
}

function contentItems({ prompt, references, videos, audios, ...frames }: VideoRequest): JsonObject[] {
  const image = (role: string) => (url: string) => ({ type: 'image_url', image_url: { url }, role });
  return [
    ...(prompt === '' ? [] : [{ type: 'text', text: prompt }]),
    ...framesOf(frames).map((url, index) => image(index === 0 ? 'first_frame' : 'last_frame')(url)),
    ...references.map(image('reference_image')),
    ...videos.map((url) => ({ type: 'video_url', video_url: { url }, role: 'reference_video' })),
    ...audios.map((url) => ({ type: 'audio_url', audio_url: { url }, role: 'reference_audio' })),
  ];
}
