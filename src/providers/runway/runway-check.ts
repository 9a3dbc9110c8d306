import { framesOf } from '../../domain/media-roles.ts';
import type { VideoRequest } from '../../domain/request.ts';
import { runwayModel } from './runway-models.ts';
import { runwayInputs, shapeFields, shapesOf, usualFirst } from './runway-shape.ts';
import type { RunwayModel } from './runway-models.ts';
import type { RunwayInputs } from './runway-shape.ts';
import { hasOwnLength } from './runway-request.ts';
import type { RequestIssue } from '../provider.ts';
import { issue } from '../shared/request-issue.ts';
import { secondsIssue } from '../shared/seconds-issue.ts';

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

function checkAddresses(request: VideoRequest): RequestIssue | undefined {
  const { references, videos, audios } = request;
  const frame = framesOf(request).findIndex((address) => !isAcceptedAddress(address));
  if (frame >= 0) return addressIssue(frame === 0 ? 'first_frame' : 'last_frame');
  for (const [param, addresses] of Object.entries({ references, videos, audios })) {
    const index = addresses.findIndex((address) => !isAcceptedAddress(address));
    if (index >= 0) return addressIssue(`${param}[${index}]`);
  }
  return undefined;
}

function addressIssue(param: string): RequestIssue {
  const rule = `an https address of at most ${addressCharactersMax} characters, data, or runway://`;
  return issue(param, `The upstream accepts ${rule}.`);
}

function checkMedia(
  { prompt, references, videos, audios }: VideoRequest,
  { edit, needs, wordless }: RunwayModel,
  { operation }: RunwayInputs,
): RequestIssue | undefined {
  if (needs === 'video' && operation !== 'edit') return issue('videos', 'The model edits a video.');
  if (needs === 'image' && operation !== 'image') return issue('images', 'The model needs a first frame.');
  if (prompt === '' && (audios.length > 0 || !wordless.includes(operation)))
    return issue('prompt', 'The model needs a prompt here.');
  if (operation === 'edit') {
    if (videos.length > 1) return issue('videos', 'The model edits one video.');
    if (audios.length > 0) return issue('audios', 'The model does not accept audio beside a video to edit.');
    if (references.length > 0 && edit?.images !== true)
      return issue('references', 'The model does not accept images beside a video to edit.');
  }
  return undefined;
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
  if (hasOwnLength(model, inputs)) return undefined;
  const { min, max, only } = model.seconds;
  return secondsIssue(duration, only ?? { min, max });
}

function checkSound({ generateAudio }: VideoRequest, { sound }: RunwayModel): RequestIssue | undefined {
  const param = 'metadata.generate_audio';
  if (generateAudio === undefined || sound === 'choice') return undefined;
  if (sound === 'unknown') return issue(param, 'Whether the model makes sound cannot be chosen.');
  const isMade = sound === 'always';
  if (generateAudio === isMade) return undefined;
  return issue(param, isMade ? 'The model always generates audio.' : 'The model does not generate audio.');
}
