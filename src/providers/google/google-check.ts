import { readGoogleModel } from './google-call.ts';
import { readDataUrl } from './google-inputs.ts';
import type { Consumption } from '../../domain/consumption.ts';
import { imagesOf } from '../../domain/media-roles.ts';
import type { MediaRoles } from '../../domain/media-roles.ts';
import type { RequestIssue } from '../provider.ts';
import type { VideoRequest } from '../../domain/request.ts';
import { issue } from '../shared/request-issue.ts';
import { secondsIssue } from '../shared/seconds-issue.ts';

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

export function googleRoles(upstream: string): MediaRoles {
  const { name, store } = readGoogleModel(upstream);
  return isOmni(name)
    ? { frames: 1, references: store === undefined ? 7 : 10, videos: 1, audios: 0 }
    : { frames: 2, references: 3, videos: 1, audios: 0 };
}

/** Who cannot choose has sound always. */
export function googleConsumes({ videos }: VideoRequest, upstream: string): Consumption {
  const { name, store } = readGoogleModel(upstream);
  const fields = ['resolution', 'ratio', 'duration', 'generateAudio'] as const;
  if (isOmni(name)) return { fields, metadata: (field) => field === 'task' && videos.length > 0 };
  const passed = veoPassed(store !== undefined);
  return {
    fields: store === undefined ? fields : [...fields, 'seed'],
    metadata: (field) => Object.hasOwn(passed, field),
  };
}

/** What callers may add to Veo, by the vendor's name. */
export function veoPassed(vertex: boolean): Readonly<Record<string, string>> {
  const passed = {
    negative_prompt: 'negativePrompt',
    person_generation: 'personGeneration',
    enhance_prompt: 'enhancePrompt',
  };
  return vertex
    ? { ...passed, resize_mode: 'resizeMode', compression_quality: 'compressionQuality' }
    : passed;
}

export function checkGoogleVideo(request: VideoRequest, upstream: string): RequestIssue | undefined {
  const { name, store } = readGoogleModel(upstream);
  const common = commonIssue(request);
  if (common !== undefined) return common;
  return isOmni(name) ? omniIssue(request, name) : veoIssue(request, store !== undefined);
}

function commonIssue(request: VideoRequest): RequestIssue | undefined {
  if (request.draft === true) return issue('metadata.draft', 'The model has no draft mode.');
  if (request.returnLastFrame === true)
    return issue('metadata.return_last_frame', 'The model returns no last frame.');
  if (request.watermark === true) return issue('metadata.watermark', 'The model adds no visible watermark.');
  if (request.tools !== undefined) return issue('metadata.tools', 'The model does not accept tools.');
  if (request.ratio === undefined || googleRatios.includes(request.ratio)) return undefined;
  return issue('ratio', `ratio must be one of ${googleRatios.join(', ')}.`);
}

function omniIssue(request: VideoRequest, name: string): RequestIssue | undefined {
  const { videos, duration, resolution, extra } = request;
  if (request.seed !== undefined) return issue('metadata.seed', 'The model does not accept a seed.');
  if (request.generateAudio === false)
    return issue('metadata.generate_audio', 'The model always generates audio.');
  const { task } = extra;
  if (task !== undefined && (typeof task !== 'string' || !omniTasks.includes(task) || videos.length === 0))
    return issue('metadata.task', 'task is edit or extend, of a video.');
  const length = secondsIssue(duration, omniSeconds(name));
  if (length !== undefined) return length;
  return resolution === undefined || omniResolutions.includes(resolution)
    ? undefined
    : issue('resolution', `resolution must be one of ${omniResolutions.join(', ')}.`);
}

function veoIssue(request: VideoRequest, vertex: boolean): RequestIssue | undefined {
  const { videos, duration, resolution } = request;
  const images = imagesOf(request);
  if (!vertex && request.seed !== undefined)
    return issue('metadata.seed', 'The model accepts a seed on Vertex only.');
  if (!vertex && request.generateAudio === false)
    return issue('metadata.generate_audio', 'The model always generates audio.');
  if (videos.length > 0 && images.length > 0) return issue('videos', 'A video is extended without images.');
  const isReadable = (url: string) => readDataUrl(url) !== undefined || (vertex && url.startsWith('gs://'));
  if (!images.every(isReadable)) return issue('images', 'The model accepts images as data URLs only.');
  const length = secondsIssue(duration, veoSeconds);
  if (length !== undefined) return length;
  return resolution === undefined || veoResolutions.includes(resolution)
    ? undefined
    : issue('resolution', `resolution must be one of ${veoResolutions.join(', ')}.`);
}
