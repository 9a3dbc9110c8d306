import { z } from 'zod';
import { bflResolutions, bflVideoFacts } from './bfl-facts.ts';
import { bflJobStatus, submitBflJob } from './bfl-job.ts';
import { defined } from '../../base/defined.ts';
import { imagesOf } from '../../models/media-roles.ts';
import { passedOn } from '../../models/facts-of-request.ts';
import { readFacts } from '../shared/read-facts.ts';
import type { JsonObject, VideoRequest } from '../../models/request.ts';
import { withoutDataHead } from '../shared/image-input.ts';
import type { RequestIssue, SubmitContext, VideoProvider } from '../provider.ts';
import { issue } from '../shared/request-issue.ts';

/**
 * Renders FLUX 3 videos from text or from images at given times, and continues videos. A draft cannot be finished,
 * because that needs a bundle that our results do not contain. `now` returns Unix milliseconds.
 */
export function createBflVideo(now: () => number): VideoProvider {
  const kind = { linkLifeSeconds: 3600, facts: {} };
  return {
    linkLifeSeconds: kind.linkLifeSeconds,
    cancelUntil: 'never',
    facts: bflVideoFacts,
    check: checkMoments,
    submit: async (request, context) => submitBflJob(buildVideo(request, context), context),
    status: async (operation, context) => bflJobStatus(operation, context, { kind, now: now() }),
  };
}

const momentsSchema = z.array(z.number().nonnegative().finite());

function readMoments({ keyframe_seconds: moments }: JsonObject): readonly number[] | undefined {
  return momentsSchema.safeParse(moments).data;
}

/** Checks that the keyframe times fit the images and the duration, which the facts table cannot express. */
function checkMoments(request: VideoRequest): RequestIssue | undefined {
  const param = 'metadata.keyframe_seconds';
  const { duration, extra } = request;
  const images = imagesOf(request);
  if (extra['keyframe_seconds'] === undefined) return undefined;
  const moments = readMoments(extra);
  const isOrdered = moments?.every((moment, index) => index === 0 || moment > (moments[index - 1] ?? 0));
  if (moments?.length !== images.length || images.length === 0 || isOrdered !== true)
    return issue(param, 'keyframe_seconds must be increasing numbers, one for each image.');
  const last = moments.at(-1) ?? 0;
  return typeof duration === 'number' && last > duration
    ? issue(param, 'keyframe_seconds must lie within the duration.')
    : undefined;
}

function buildVideo(request: VideoRequest, context: Pick<SubmitContext, 'model' | 'facts'>): JsonObject {
  const { prompt, resolution, ratio, duration, draft, generateAudio, safetyIdentifier } = request;
  return {
    ...passedOn(request, readFacts(request, bflVideoFacts, context)),
    prompt,
    ...mediaFields(request),
    ...defined({
      duration,
      aspect_ratio: ratio === 'adaptive' ? 'auto' : ratio,
      resolution:
        resolution === undefined ? undefined : (bflResolutions[resolution.toLowerCase()] ?? resolution),
      generate_audio: generateAudio,
      draft: draft === true ? true : undefined,
      user: safetyIdentifier,
    }),
  };
}

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
