import { defined } from '../../base/defined.ts';
import { framesOf } from '../../models/media-roles.ts';
import { passedOn } from '../../models/facts-of-request.ts';
import type { PlainFacts } from '../../models/model-facts.ts';
import type { JsonObject, VideoRequest } from '../../models/request.ts';
import { readFacts } from '../shared/read-facts.ts';
import { draftResolution } from '../shared/seedance-pricing.ts';
import { arkFacts } from './ark-facts.ts';
import type { SubmitContext } from '../provider.ts';

const expiresAfterMinSeconds = 3_600;
const expiresAfterMaxSeconds = 259_200;

export function buildArkVideo(request: VideoRequest, context: SubmitContext): JsonObject {
  const { callbackUrl, marker, remainingSeconds, model } = context;
  const facts = readFacts(request, arkFacts, context);
  return {
    ...passedOn(request, facts),
    ...outputFields(request, facts),
    model,
    content: contentItems(request),
    // An end-user id from the caller replaces our marker. A lost job can then be found only by an operator.
    safety_identifier: request.safetyIdentifier ?? marker,
    execution_expires_after: Math.min(
      Math.max(Math.floor(remainingSeconds), expiresAfterMinSeconds),
      expiresAfterMaxSeconds,
    ),
    ...defined({ callback_url: callbackUrl }),
  };
}

/** The model rejects any field that it does not support, whatever the value. */
function outputFields(request: VideoRequest, { fields = {}, sound }: PlainFacts): JsonObject {
  const { ratio, duration, seed, watermark, generateAudio, draft, tools } = request;
  return defined({
    resolution: request.resolution ?? (draft === true ? draftResolution : undefined),
    ratio,
    duration: fields.duration !== true ? undefined : duration === 'auto' ? -1 : duration,
    seed,
    watermark,
    generate_audio: sound === 'never' ? undefined : generateAudio,
    draft: fields.draft === true ? draft : undefined,
    return_last_frame: fields.return_last_frame === true ? request.returnLastFrame : undefined,
    tools: tools === undefined || Array.isArray(tools) ? tools : [tools],
  });
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
