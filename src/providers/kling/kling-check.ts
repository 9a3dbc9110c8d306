import type { VideoRequest } from '../../domain/request.ts';
import { klingInputs, readElements, readRole } from './kling-inputs.ts';
import type { KlingInputs } from './kling-inputs.ts';
import { klingModel } from './kling-models.ts';
import type { KlingModel } from './kling-models.ts';
import type { RequestIssue } from '../provider.ts';
import { issue } from '../shared/request-issue.ts';
import { secondsIssue } from '../shared/seconds-issue.ts';

/** Why Kling cannot render the request; what only the vendor knows is left to its answer. */
export function checkKlingVideo(request: VideoRequest, name: string): RequestIssue | undefined {
  const model = klingModel(name);
  const inputs = klingInputs(request, model);
  return (
    checkText(request, model) ??
    checkMedia(request, inputs) ??
    checkVideo(request, inputs) ??
    checkOutput(request, model) ??
    checkRatio(request, model, inputs) ??
    checkSound(request, model, inputs)
  );
}

function checkText(
  { prompt, draft, tools, seed, extra }: VideoRequest,
  model: KlingModel,
): RequestIssue | undefined {
  const max = model.promptCharactersMax;
  if (prompt.length > max) return issue('prompt', `The prompt must not exceed ${max} characters.`);
  if (draft === true) return issue('metadata.draft', 'The model has no draft mode.');
  if (tools !== undefined) return issue('metadata.tools', 'The model does not accept tools.');
  // A voice is billed beside the video, and no price knows of it.
  if (extra['voice_list'] !== undefined)
    return issue('metadata.voice_list', 'The model does not accept voices here.');
  return seed === undefined ? undefined : issue('metadata.seed', 'The model does not accept a seed.');
}

const referencesMax = 7;
const referencesBesideVideoMax = 4;
const elementsBesideFramesMax = 3;

function checkMedia(
  { videos, extra }: VideoRequest,
  { service, frames, references, elements }: KlingInputs,
): RequestIssue | undefined {
  const asset = [...frames, ...references, ...videos].find((address) => /^asset:/i.test(address));
  if (asset !== undefined) return issue('images', 'The upstream does not support assets; send a URL.');
  if (videos.some((address) => /^data:/i.test(address)))
    return issue('videos', 'A video must be given as a URL.');
  if (readElements(extra) === undefined)
    return issue('metadata.element_list', 'element_list must be a list of {"element_id"}.');
  if (elements.length > 0 && service === 'text')
    return issue('metadata.element_list', 'Elements need an image beside them.');
  return checkReferences(references.length + elements.length, {
    frames: frames.length,
    videos: videos.length,
  });
}

function checkReferences(
  count: number,
  beside: { readonly frames: number; readonly videos: number },
): RequestIssue | undefined {
  const max =
    beside.frames > 0
      ? elementsBesideFramesMax
      : beside.videos > 0
        ? referencesBesideVideoMax
        : referencesMax;
  if (count <= max) return undefined;
  return issue(
    beside.frames > 0 ? 'metadata.element_list' : 'images',
    `The model accepts at most ${max} images and elements here.`,
  );
}

function checkVideo({ extra }: VideoRequest, { video, frames }: KlingInputs): RequestIssue | undefined {
  const { refer_type: said, multi_shot: shots } = extra;
  if (said !== undefined && (readRole(extra) === undefined || video === undefined)) {
    return issue('metadata.refer_type', 'refer_type must be feature or base, beside a video.');
  }
  if (video?.role === 'base' && frames.length > 0)
    return issue('images', 'A video to edit excludes first and last frames.');
  const wrong = video?.role === 'base' ? true : video?.role === 'feature' ? false : undefined;
  return wrong !== undefined && shots === wrong
    ? issue('metadata.multi_shot', `multi_shot must not be ${String(wrong)} beside this video.`)
    : undefined;
}

function checkOutput({ resolution, duration }: VideoRequest, model: KlingModel): RequestIssue | undefined {
  if (resolution !== undefined && !model.resolutions.includes(resolution.toLowerCase())) {
    return issue('resolution', `resolution must be one of ${model.resolutions.join(', ')}.`);
  }
  return secondsIssue(duration, model.seconds);
}

/** Frames and a video to edit have a shape of their own. */
function checkRatio(
  { ratio }: VideoRequest,
  { ratios }: KlingModel,
  { frames, video }: KlingInputs,
): RequestIssue | undefined {
  const isGiven = frames.length > 0 || video !== undefined;
  if (ratio === undefined || ratios.includes(ratio) || (isGiven && ratio === 'adaptive')) return undefined;
  return frames.length > 0 || video?.role === 'base'
    ? undefined
    : issue('ratio', `ratio must be one of ${ratios.join(', ')}.`);
}

function checkSound(
  { generateAudio, resolution }: VideoRequest,
  { sound, soundNeeds1080p }: KlingModel,
  { video }: KlingInputs,
): RequestIssue | undefined {
  const param = 'metadata.generate_audio';
  if (generateAudio === undefined || video?.role === 'base') return undefined;
  if (!generateAudio)
    return sound === 'always' ? issue(param, 'The model always generates audio.') : undefined;
  if (sound === 'never') return issue(param, 'The model does not generate audio.');
  if (video !== undefined) return issue(param, 'Beside a reference video the model does not generate audio.');
  return soundNeeds1080p && resolution?.toLowerCase() !== '1080p'
    ? issue('resolution', 'The model generates audio at 1080p only.')
    : undefined;
}
