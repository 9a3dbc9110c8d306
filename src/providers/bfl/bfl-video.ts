import { z } from 'zod';
import { bflJobStatus, submitBflJob } from './bfl-job.ts';
import { defined } from '../../domain/defined.ts';
import type { Consumption } from '../../domain/consumption.ts';
import { imagesOf } from '../../domain/media-roles.ts';
import type { MediaRoles } from '../../domain/media-roles.ts';
import type { JsonObject, VideoRequest } from '../../domain/request.ts';
import { withoutDataHead } from '../shared/image-input.ts';
import type { PossibleOutput, RequestIssue, VideoProvider } from '../provider.ts';
import { issue } from '../shared/request-issue.ts';
import { secondsIssue } from '../shared/seconds-issue.ts';

/**
 * FLUX 3 videos: from text, from images at certain moments, or as the continuation of a video. Not covered: finishing a
 * draft, which needs a bundle that our results do not carry. `now` in Unix milliseconds.
 */
export function createBflVideo(now: () => number): VideoProvider {
  const kind = { linkLifeSeconds: 3600, facts: {} };
  return {
    linkLifeSeconds: kind.linkLifeSeconds,
    cancelUntil: 'never',
    check,
    roles,
    consumes: () => consumption,
    submit: async (request, context) => submitBflJob(buildVideo(request), context),
    status: async (operation, context) => bflJobStatus(operation, context, { kind, now: now() }),
    renders,
  };
}

/** By our names, and by the vendor's. */
const resolutions: Readonly<Record<string, string>> = {
  '720p': 'hd',
  hd: 'hd',
  '1080p': 'fhd',
  fhd: 'fhd',
  '1440p': 'qhd',
  qhd: 'qhd',
  '4k': 'uhd',
  uhd: 'uhd',
};
const ratios = ['21:9', '2:1', '16:9', '4:3', '1:1', '3:4', '9:16'];
const secondsMin = 5;
const secondsMax = 20;
const continuedSecondsMax = 15;
const keyframesMax = 10;

/** The model chooses a length where none is named. */
function renders({ resolution, duration, videos }: VideoRequest): PossibleOutput {
  const max = videos.length > 0 ? continuedSecondsMax : secondsMax;
  return defined({
    resolutions: resolution === undefined ? ['720p'] : undefined,
    seconds: typeof duration === 'number' ? undefined : { min: secondsMin, max },
  });
}

const momentsSchema = z.array(z.number().nonnegative().finite());

/** `metadata.keyframe_seconds`: when each of several images is shown. */
function readMoments({ keyframe_seconds: moments }: JsonObject): readonly number[] | undefined {
  return momentsSchema.safeParse(moments).data;
}

function check(request: VideoRequest): RequestIssue | undefined {
  return checkMedia(request) ?? checkMoments(request) ?? checkOutput(request) ?? checkSwitches(request);
}

/** The model knows no references: what is neither first nor last is shown at a moment that the caller names. */
function roles({ extra }: Pick<VideoRequest, 'extra'>): MediaRoles {
  const references = extra['keyframe_seconds'] === undefined ? 0 : keyframesMax;
  return { frames: 2, references, videos: 1, audios: 0 };
}

function checkMedia(request: VideoRequest): RequestIssue | undefined {
  const { videos } = request;
  const images = imagesOf(request);
  if (videos.length > 0 && images.length > 0)
    return issue('images', 'The model accepts images or a video, not both.');
  const asset = [...images, ...videos].find((address) => /^asset:/i.test(address));
  return asset === undefined
    ? undefined
    : issue('images', 'The upstream does not support assets; send a URL, or data.');
}

function checkMoments(request: VideoRequest): RequestIssue | undefined {
  const param = 'metadata.keyframe_seconds';
  const { duration, extra } = request;
  const images = imagesOf(request);
  if (extra['keyframe_seconds'] === undefined) return undefined;
  const moments = readMoments(extra);
  const isOrdered = moments?.every((moment, index) => index === 0 || moment > (moments[index - 1] ?? 0));
  if (moments?.length !== images.length || images.length === 0 || isOrdered !== true)
    return issue(param, 'keyframe_seconds must be rising numbers, one for each image.');
  const last = moments.at(-1) ?? 0;
  return typeof duration === 'number' && last > duration
    ? issue(param, 'keyframe_seconds must lie within the duration.')
    : undefined;
}

function checkOutput(request: VideoRequest): RequestIssue | undefined {
  const { resolution, ratio, duration, draft, videos } = request;
  const sold = resolution === undefined ? 'hd' : resolutions[resolution.toLowerCase()];
  if (sold === undefined)
    return issue('resolution', `resolution must be one of ${Object.keys(resolutions).join(', ')}.`);
  if (draft === true && sold !== 'hd') return issue('resolution', 'A draft is rendered at 720p.');
  if (ratio !== undefined && ratio !== 'adaptive' && !ratios.includes(ratio))
    return issue('ratio', `ratio must be one of ${ratios.join(', ')}, adaptive.`);
  const max = videos.length > 0 ? continuedSecondsMax : secondsMax;
  return secondsIssue(duration, { min: secondsMin, max }, true);
}

function checkSwitches({ seed, tools, watermark }: VideoRequest): RequestIssue | undefined {
  if (seed !== undefined) return issue('metadata.seed', 'The model does not accept a seed.');
  if (watermark === true) return issue('metadata.watermark', 'The model writes no watermark.');
  return tools === undefined ? undefined : issue('metadata.tools', 'The model does not accept tools.');
}

/** Every name in `metadata` that the gateway decides. */
export const bflVideoOwnFields = [
  'model',
  'mode',
  'prompt',
  'keyframes',
  'keyframe_seconds',
  'start_video',
  'duration',
  'aspect_ratio',
  'ratio',
  'resolution',
  'size',
  'generate_audio',
  'draft',
  'draft_cache',
  'user',
  'webhook_url',
  'webhook_secret',
];
const ownFields = new Set(bflVideoOwnFields);

const consumption: Consumption = {
  fields: ['resolution', 'ratio', 'duration', 'generateAudio', 'draft', 'safetyIdentifier'],
  metadata: (name) => !ownFields.has(name) || name === 'keyframe_seconds',
};

function buildVideo(request: VideoRequest): JsonObject {
  const { prompt, resolution, ratio, duration, draft, generateAudio, safetyIdentifier } = request;
  const extra = Object.entries(request.extra).filter(([field]) => !ownFields.has(field));
  return {
    ...Object.fromEntries(extra),
    prompt,
    ...mediaFields(request),
    ...defined({
      duration,
      aspect_ratio: ratio === 'adaptive' ? 'auto' : ratio,
      resolution: resolution === undefined ? undefined : resolutions[resolution.toLowerCase()],
      generate_audio: generateAudio,
      draft: draft === true ? true : undefined,
      user: safetyIdentifier,
    }),
  };
}

/** Addresses, or base64 without the head of a data URL. */
function mediaFields(request: VideoRequest): JsonObject {
  const { videos, extra } = request;
  const [video] = videos.map(withoutDataHead);
  if (video !== undefined) return { mode: 'v2v', start_video: video };
  const frames = imagesOf(request).map(withoutDataHead);
  const [only, ...others] = frames;
  if (only === undefined) return { mode: 't2v' };
  const moments = readMoments(extra);
  if (moments !== undefined)
    return { mode: 'i2v', keyframes: frames.map((frame, index) => [moments[index] ?? 0, frame]) };
  return { mode: 'i2v', keyframes: others.length === 0 ? only : frames };
}
