import type { VideoRequest } from '../../domain/request.ts';
import { runwayModel } from './runway-models.ts';
import { runwayInputs, shapeFields, shapesOf, usualFirst } from './runway-shape.ts';
import type { RunwayModel } from './runway-models.ts';
import type { RunwayInputs } from './runway-shape.ts';
import { hasOwnLength } from './runway-request.ts';
import type { RequestIssue } from '../provider.ts';
import { issue } from '../shared/request-issue.ts';

/** Why Runway cannot render the request; what only the vendor knows is left to its answer. */
export function checkRunwayVideo(request: VideoRequest, name: string): RequestIssue | undefined {
  const model = runwayModel(name);
  const inputs = runwayInputs(request, model);
  return (
    checkText(request, model) ??
    checkAddresses(request) ??
    checkMedia(request, model, inputs) ??
    checkShape(request, model, inputs) ??
    checkSeconds(request, model, inputs) ??
    checkSound(request, model)
  );
}

function checkText(
  { prompt, draft, tools, seed, watermark, extra }: VideoRequest,
  model: RunwayModel,
): RequestIssue | undefined {
  const max = model.promptMax;
  if (prompt.length > max) return issue('prompt', `The prompt must not exceed ${max} characters.`);
  if (draft === true) return issue('metadata.draft', 'The model has no draft mode.');
  if (tools !== undefined) return issue('metadata.tools', 'The model does not accept tools.');
  if (watermark === true) return issue('metadata.watermark', 'The model makes no watermark.');
  const role = extra['refer_type'];
  if (role !== undefined && role !== 'base' && role !== 'feature')
    return issue('metadata.refer_type', 'refer_type must be feature or base.');
  return seed === undefined || model.seed
    ? undefined
    : issue('metadata.seed', 'The model does not accept a seed.');
}

const addressCharactersMax = 2048;

/** A domain name, over HTTPS; data; or what was uploaded to the vendor. */
export function isAcceptedAddress(address: string): boolean {
  return (
    /^(?:data:|runway:\/\/)/i.test(address) ||
    (/^https:\/\//i.test(address) && address.length <= addressCharactersMax)
  );
}

function checkAddresses({ images, videos, audios }: VideoRequest): RequestIssue | undefined {
  for (const [param, addresses] of Object.entries({ images, videos, audios })) {
    const index = addresses.findIndex((address) => !isAcceptedAddress(address));
    if (index >= 0) {
      const rule = `an https address of at most ${addressCharactersMax} characters, data, or runway://`;
      return issue(`${param}[${index}]`, `The upstream accepts ${rule}.`);
    }
  }
  return undefined;
}

function checkMedia(
  { prompt, images, videos, audios }: VideoRequest,
  { frames: framesMax, references, edit, needs, wordless }: RunwayModel,
  { operation, frames }: RunwayInputs,
): RequestIssue | undefined {
  if (needs === 'video' && operation !== 'edit') return issue('videos', 'The model edits a video.');
  if (needs === 'image' && operation !== 'image') return issue('images', 'The model needs a first frame.');
  if (prompt === '' && (audios.length > 0 || !wordless.includes(operation)))
    return issue('prompt', 'The model needs a prompt here.');
  if (operation === 'edit') {
    if (videos.length > 1) return issue('videos', 'The model edits one video.');
    if (audios.length > 0) return issue('audios', 'The model does not accept audio beside a video to edit.');
    return images.length > 0 && edit?.images !== true
      ? issue('images', 'The model does not accept images beside a video to edit.')
      : undefined;
  }
  const accepted = operation === 'references' ? references : [];
  if (videos.length > 0 && !accepted.includes('videos'))
    return issue('videos', 'The model does not accept video here.');
  if (audios.length > 0 && !accepted.includes('audios'))
    return issue('audios', 'The model does not accept audio here.');
  if (frames.length <= framesMax) return undefined;
  const what = framesMax === 1 ? 'a first frame' : 'a first and a last frame';
  return issue('images', `The model accepts ${what} only.`);
}

function checkShape(
  request: VideoRequest,
  model: RunwayModel,
  { operation }: RunwayInputs,
): RequestIssue | undefined {
  const { ratio = 'adaptive', resolution } = request;
  const targets = operation === 'edit' ? model.edit?.targets : undefined;
  const isTarget = targets === undefined || ratio === 'adaptive' || targets.includes(ratio);
  if (isTarget && shapeFields(request, model, operation) !== undefined) return undefined;
  const sold = usualFirst(shapesOf(model, operation));
  const isSold = !isTarget || resolution === undefined || sold.includes(resolution.toLowerCase());
  return isSold
    ? issue('ratio', 'The model does not render this ratio here.')
    : issue('resolution', `resolution must be one of ${sold.join(', ')}.`);
}

function checkSeconds(
  { duration }: VideoRequest,
  model: RunwayModel,
  inputs: RunwayInputs,
): RequestIssue | undefined {
  // The video to edit decides.
  if (duration === undefined || hasOwnLength(model, inputs)) return undefined;
  const { min, max, only } = model.seconds;
  if (only !== undefined) {
    return only.some((seconds) => seconds === duration)
      ? undefined
      : issue('duration', `duration must be one of ${only.join(', ')}.`);
  }
  return typeof duration === 'number' && duration >= min && duration <= max
    ? undefined
    : issue('duration', `duration must be between ${min} and ${max}.`);
}

function checkSound({ generateAudio }: VideoRequest, { sound }: RunwayModel): RequestIssue | undefined {
  const param = 'metadata.generate_audio';
  if (generateAudio === undefined || sound === 'choice') return undefined;
  if (sound === 'unknown') return issue(param, 'Whether the model makes sound cannot be chosen.');
  const isMade = sound === 'always';
  if (generateAudio === isMade) return undefined;
  return issue(param, isMade ? 'The model always generates audio.' : 'The model does not generate audio.');
}
