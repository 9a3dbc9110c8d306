import type { VideoRequest } from '../../domain/request.ts';
import { seedanceFamily } from '../shared/seedance-models.ts';
import type { SeedanceFamily } from '../shared/seedance-models.ts';
import { pricedPromptFlag } from '../shared/seedance-pricing.ts';
import type { RequestIssue } from '../provider.ts';
import { issue } from '../shared/request-issue.ts';

type Check = (request: VideoRequest, family: SeedanceFamily) => RequestIssue | undefined;

/** Why this upstream would refuse the request, or render and bill something else than its fields say. */
export function checkArkVideo(request: VideoRequest, model: string): RequestIssue | undefined {
  const family = seedanceFamily(model);
  for (const check of checks) {
    const issue = check(request, family);
    if (issue !== undefined) return issue;
  }
  return undefined;
}

const checks: readonly Check[] = [
  checkPromptFlags,
  checkMetadata,
  checkFrameCount,
  checkDuration,
  checkResolution,
  checkDraft,
  checkFrames,
  checkReferences,
  checkShape,
  checkAddresses,
  checkSwitches,
];

function checkPromptFlags({ prompt }: VideoRequest): RequestIssue | undefined {
  const flag = pricedPromptFlag(prompt);
  if (flag === undefined) return undefined;
  return issue(
    'prompt',
    `The prompt contains the parameter --${flag}; use the fields resolution, ratio and duration.`,
  );
}

/** These never leave by way of metadata; one that disagrees with its field would be dropped unheard. */
function checkMetadata(request: VideoRequest): RequestIssue | undefined {
  const { extra, resolution, ratio, duration } = request;
  const fields = { resolution, ratio, duration: duration === 'auto' ? -1 : duration };
  for (const [name, own] of Object.entries(fields)) {
    const value = extra[name];
    if (value === undefined || value === own || (own !== undefined && value === String(own))) continue;
    return issue(`metadata.${name}`, `Send ${name} outside of metadata.`);
  }
  return undefined;
}

function checkFrameCount({ extra }: VideoRequest, family: SeedanceFamily): RequestIssue | undefined {
  const { frames } = extra;
  if (frames === undefined) return undefined;
  if (!family.frameCount) return issue('metadata.frames', 'The model accepts duration, not frames.');
  const valid =
    typeof frames === 'number' &&
    Number.isInteger(frames) &&
    frames >= 29 &&
    frames <= 289 &&
    (frames - 25) % 4 === 0;
  return valid ? undefined : issue('metadata.frames', 'frames must be 25 + 4n, from 29 to 289.');
}

function checkDuration({ duration }: VideoRequest, { durations }: SeedanceFamily): RequestIssue | undefined {
  if (duration === undefined) return undefined;
  if (duration === 'auto') {
    return durations.auto
      ? undefined
      : issue('duration', 'The model does not choose a duration automatically.');
  }
  const { min, max } = durations;
  if (Number.isInteger(duration) && duration >= min && duration <= max) return undefined;
  return issue('duration', `duration must be a whole number of seconds from ${min} to ${max}.`);
}

function checkResolution(request: VideoRequest, family: SeedanceFamily): RequestIssue | undefined {
  const { resolution } = request;
  if (resolution === undefined) return undefined;
  const allowed = isReference(request, family)
    ? family.resolutions.filter((name) => !family.referencesExclude.includes(name))
    : family.resolutions;
  return allowed.includes(resolution.toLowerCase())
    ? undefined
    : issue('resolution', `resolution must be one of ${allowed.join(', ')}.`);
}

function checkDraft(request: VideoRequest, family: SeedanceFamily): RequestIssue | undefined {
  if (request.draft !== true) return undefined;
  if (!family.draft) return issue('metadata.draft', 'The model has no draft mode.');
  if (request.resolution !== undefined && request.resolution !== '480p') {
    return issue('resolution', 'A draft is rendered at 480p.');
  }
  if (request.returnLastFrame === true) {
    return issue('metadata.return_last_frame', 'A draft has no last frame.');
  }
  return request.extra['service_tier'] === 'flex'
    ? issue('metadata.service_tier', 'A draft is not rendered in the flex tier.')
    : undefined;
}

function checkFrames(request: VideoRequest, family: SeedanceFamily): RequestIssue | undefined {
  const { images, inputType } = request;
  if (inputType !== 'first_last_frame') return undefined;
  if (request.videos.length > 0) return issue('videos', 'first_last_frame accepts images only.');
  if (request.audios.length > 0) return issue('audios', 'first_last_frame accepts images only.');
  if (images.length >= 1 && images.length <= family.frames) return undefined;
  return family.frames === 0
    ? issue('input_type', 'The model does not accept images.')
    : issue('images', `first_last_frame accepts 1 to ${family.frames} images with this model.`);
}

function checkReferences(request: VideoRequest, family: SeedanceFamily): RequestIssue | undefined {
  if (!isReference(request, family)) return undefined;
  const { images, videos, audios } = request;
  const { references } = family;
  if (images.length > references.images) return issue('images', tooMany('images', references.images));
  if (videos.length > references.videos) return issue('videos', tooMany('videos', references.videos));
  if (audios.length > references.audios) return issue('audios', tooMany('audios', references.audios));
  return audios.length > 0 && images.length + videos.length === 0 && !family.audioAlone
    ? issue('audios', 'Audio needs an image or a video beside it.')
    : undefined;
}

/**
 * A model that keeps the shape of its input refuses any other. Whether a video is edited or only referred to is the
 * upstream's guess, unless the request says so.
 */
function checkShape(request: VideoRequest, family: SeedanceFamily): RequestIssue | undefined {
  const { inputType, images, videos, ratio, duration, extra } = request;
  if (!family.keepsShape) return undefined;
  const task = videos.length > 0 ? extra['omni_reference_task_type'] : undefined;
  const isEdit = task === 'edit';
  const keeps = (inputType === 'first_last_frame' && images.length > 0) || isEdit || task === 'extend';
  if (keeps && ratio !== undefined && ratio !== 'adaptive') {
    return issue('ratio', 'The model keeps the shape of its input here: send adaptive.');
  }
  return isEdit && duration !== undefined && duration !== 'auto'
    ? issue('duration', 'An edited video keeps its length: send -1.')
    : undefined;
}

function tooMany(noun: string, max: number): string {
  return max === 0
    ? `The model does not accept reference ${noun}.`
    : `The model accepts at most ${max} reference ${noun}.`;
}

function checkAddresses({ images, videos }: VideoRequest): RequestIssue | undefined {
  const video = videos.findIndex((url) => !/^(?:https?|asset):\/\//i.test(url));
  if (video >= 0) return issue(`videos[${video}]`, 'A reference video must be an http or https URL.');
  const image = images.findIndex((url) => !/^(?:https?:\/\/|asset:\/\/|data:image\/)/i.test(url));
  return image < 0
    ? undefined
    : issue(`images[${image}]`, 'An image must be an http or https URL or a data URL.');
}

function checkSwitches(request: VideoRequest, family: SeedanceFamily): RequestIssue | undefined {
  if (request.generateAudio === true && !family.generatesAudio) {
    return issue('metadata.generate_audio', 'The model does not generate audio.');
  }
  if (request.tools !== undefined && !family.tools)
    return issue('metadata.tools', 'The model does not accept tools.');
  return request.extra['service_tier'] === 'flex' && !family.flex
    ? issue('metadata.service_tier', 'The model has no flex tier.')
    : undefined;
}

/**
 * One image for a model that knows no references is its first frame: it is what "this image, in motion" means there,
 * and the only way that the model takes an image at all.
 */
export function isSingleFrame(
  { inputType, images, videos, audios }: VideoRequest,
  family: SeedanceFamily,
): boolean {
  return (
    inputType === 'reference' &&
    family.references.images === 0 &&
    family.frames > 0 &&
    images.length === 1 &&
    videos.length + audios.length === 0
  );
}

function isReference(request: VideoRequest, family: SeedanceFamily): boolean {
  return request.inputType === 'reference' && !isSingleFrame(request, family);
}
