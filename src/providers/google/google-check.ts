import { readGoogleModel } from './google-call.ts';
import { readDataUrl } from './google-inputs.ts';
import type { RequestIssue } from '../provider.ts';
import type { VideoRequest } from '../../domain/request.ts';
import { issue } from '../shared/request-issue.ts';

/** What the two families of videos can say. Source: the vendor's pages on both, 2026-09. */

const googleRatios = ['16:9', '9:16'];
const omniResolutions = ['360p', '720p', '1080p', '4k'];
const veoResolutions = ['720p', '1080p', '4k'];
const veoSeconds = [4, 6, 8];
const omniTasks = ['edit', 'extend'];

export function isOmni(name: string): boolean {
  return name.startsWith('gemini-omni');
}

/** Shortest and longest clip. */
export function omniSeconds(name: string): { readonly min: number; readonly max: number } {
  return { min: 3, max: /^gemini-omni-(?:flash|1\.[01])/.test(name) ? 10 : 15 };
}

export function checkGoogleVideo(request: VideoRequest, upstream: string): RequestIssue | undefined {
  const { name, store } = readGoogleModel(upstream);
  const common = commonIssue(request);
  if (common !== undefined) return common;
  return isOmni(name)
    ? omniIssue(request, name, store !== undefined)
    : veoIssue(request, store !== undefined);
}

function commonIssue(request: VideoRequest): RequestIssue | undefined {
  if (request.audios.length > 0) return issue('audios', 'The model does not accept audio.');
  if (request.duration === 'auto') return issue('duration', 'The model does not choose a duration.');
  if (request.draft === true) return issue('metadata.draft', 'The model has no draft mode.');
  if (request.returnLastFrame === true)
    return issue('metadata.return_last_frame', 'The model returns no last frame.');
  if (request.watermark === true) return issue('metadata.watermark', 'The model adds no visible watermark.');
  if (request.tools !== undefined) return issue('metadata.tools', 'The model does not accept tools.');
  if (request.ratio === undefined || googleRatios.includes(request.ratio)) return undefined;
  return issue('ratio', `ratio must be one of ${googleRatios.join(', ')}.`);
}

function omniIssue(request: VideoRequest, name: string, vertex: boolean): RequestIssue | undefined {
  const { images, videos, inputType, duration, resolution, extra } = request;
  const { min, max } = omniSeconds(name);
  const imagesMax = vertex ? 10 : 7;
  if (request.seed !== undefined) return issue('metadata.seed', 'The model does not accept a seed.');
  if (request.generateAudio === false)
    return issue('metadata.generate_audio', 'The model always generates audio.');
  if (inputType === 'first_last_frame' && images.length > 1)
    return issue('images', 'The model accepts a first frame, but not a last one.');
  if (images.length > imagesMax) return issue('images', `The model accepts at most ${imagesMax} images.`);
  if (videos.length > 1) return issue('videos', 'The model accepts one video.');
  const { task } = extra;
  if (task !== undefined && (typeof task !== 'string' || !omniTasks.includes(task) || videos.length === 0))
    return issue('metadata.task', 'task is edit or extend, of a video.');
  if (typeof duration === 'number' && (duration < min || duration > max))
    return issue('duration', `duration must be from ${min} to ${max} seconds.`);
  return resolution === undefined || omniResolutions.includes(resolution)
    ? undefined
    : issue('resolution', `resolution must be one of ${omniResolutions.join(', ')}.`);
}

function veoIssue(request: VideoRequest, vertex: boolean): RequestIssue | undefined {
  const { images, videos, inputType, duration, resolution } = request;
  if (!vertex && request.seed !== undefined)
    return issue('metadata.seed', 'The model accepts a seed on Vertex only.');
  if (!vertex && request.generateAudio === false)
    return issue('metadata.generate_audio', 'The model always generates audio.');
  if (inputType === 'reference' && images.length > 3)
    return issue('images', 'The model accepts at most 3 images.');
  if (videos.length > 1) return issue('videos', 'The model accepts one video.');
  if (videos.length > 0 && images.length > 0) return issue('videos', 'A video is extended without images.');
  const isReadable = (url: string) => readDataUrl(url) !== undefined || (vertex && url.startsWith('gs://'));
  if (!images.every(isReadable)) return issue('images', 'The model accepts images as data URLs only.');
  if (duration !== undefined && (duration === 'auto' || !veoSeconds.includes(duration)))
    return issue('duration', `duration must be one of ${veoSeconds.join(', ')}.`);
  return resolution === undefined || veoResolutions.includes(resolution)
    ? undefined
    : issue('resolution', `resolution must be one of ${veoResolutions.join(', ')}.`);
}
