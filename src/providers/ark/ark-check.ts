import type { MediaRoles } from '../../domain/media-roles.ts';
import type { VideoRequest } from '../../domain/request.ts';
import { seedanceFamily } from '../shared/seedance-models.ts';
import type { SeedanceFamily } from '../shared/seedance-models.ts';
import { pricedPromptFlag } from '../shared/seedance-pricing.ts';
import type { RequestIssue } from '../provider.ts';
import { issue } from '../shared/request-issue.ts';
import { secondsIssue } from '../shared/seconds-issue.ts';

export function arkRoles(model: string): MediaRoles {
  const { frames, references } = seedanceFamily(model);
  return { frames, ...references, references: references.images };
}

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
  checkAudio,
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
  return secondsIssue(duration, durations, durations.auto);
}

function checkResolution(request: VideoRequest, family: SeedanceFamily): RequestIssue | undefined {
  const { resolution, references } = request;
  if (resolution === undefined) return undefined;
  const allowed =
    references.length > 0
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

function checkAudio(
  { references, videos, audios }: VideoRequest,
  { audioAlone }: SeedanceFamily,
): RequestIssue | undefined {
  return audios.length > 0 && references.length + videos.length === 0 && !audioAlone
    ? issue('audios', 'Audio needs an image or a video beside it.')
    : undefined;
}

/**
 * A model that keeps the shape of its input refuses any other. Whether a video is edited or only referred to is the
 * upstream's guess, unless the request says so.
 */
function checkShape(request: VideoRequest, family: SeedanceFamily): RequestIssue | undefined {
  const { firstFrame, videos, ratio, duration, extra } = request;
  if (!family.keepsShape) return undefined;
  const task = videos.length > 0 ? extra['omni_reference_task_type'] : undefined;
  const isEdit = task === 'edit';
  const keeps = firstFrame !== undefined || isEdit || task === 'extend';
  if (keeps && ratio !== undefined && ratio !== 'adaptive') {
    return issue('ratio', 'The model keeps the shape of its input here: send adaptive.');
  }
  return isEdit && duration !== undefined && duration !== 'auto'
    ? issue('duration', 'An edited video keeps its length: send -1.')
    : undefined;
}

function checkAddresses({ videos }: VideoRequest): RequestIssue | undefined {
  const video = videos.findIndex((url) => !/^(?:https?|asset):\/\//i.test(url));
  return video < 0 ? undefined : issue(`videos[${video}]`, 'A reference video must be an http or https URL.');
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
