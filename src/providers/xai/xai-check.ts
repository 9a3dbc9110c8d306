import { imagesOf } from '../../domain/media-roles.ts';
import type { MediaRoles } from '../../domain/media-roles.ts';
import type { VideoRequest } from '../../domain/request.ts';
import { xaiOperation } from './xai-request.ts';
import type { RequestIssue } from '../provider.ts';
import { issue } from '../shared/request-issue.ts';
import { secondsIssue } from '../shared/seconds-issue.ts';

/** Why Grok Imagine cannot render the request; what only the vendor knows is left to its answer. */
export function checkXaiVideo(request: VideoRequest, model: string): RequestIssue | undefined {
  const operation = xaiOperation(request);
  return (
    checkFields(request) ??
    (operation === 'generations' ? checkInputs(request) : checkVideo(request, model)) ??
    (operation === 'generations' ? checkOutput(request, model) : undefined)
  );
}

const words = {
  draft: 'The model has no draft mode.',
  tools: 'The model does not accept tools.',
  seed: 'The model does not accept a seed.',
} as const;

function checkFields(request: VideoRequest): RequestIssue | undefined {
  if (request.draft === true) return issue('metadata.draft', words.draft);
  if (request.tools !== undefined) return issue('metadata.tools', words.tools);
  if (request.seed !== undefined) return issue('metadata.seed', words.seed);
  if (request.watermark === true) return issue('metadata.watermark', 'The model sets no watermark.');
  const asset = [...imagesOf(request), ...request.videos].some((address) => /^asset:/i.test(address));
  return asset ? issue('images', 'The upstream does not support assets; send a URL.') : undefined;
}

/**
 * An edit or an extension: of one video, and of its shape, whatever the request and the model's entry say of it. An edit
 * has the length of its video, too.
 */
function checkVideo(request: VideoRequest, model: string): RequestIssue | undefined {
  const { prompt, references, duration, generateAudio } = request;
  if (references.length > 0) return issue('images', 'The model does not accept images beside a video.');
  if (prompt === '') return issue('prompt', 'The model needs a prompt.');
  if (generateAudio === false)
    return issue('metadata.generate_audio', 'The result has the sound of its video.');
  const isExtension = xaiOperation(request) === 'extensions';
  if (isExtension && model !== 'grok-imagine-video')
    return issue('metadata.video_task', 'The model extends no video.');
  // These are added.
  return isExtension ? secondsIssue(duration, { min: 2, max: 10 }) : undefined;
}

/** Source: the vendor's page on each model. */
export function xaiRoles(model: string): MediaRoles {
  const isLite = model.endsWith('-lite');
  const frames = model.startsWith('grok-imagine-video-1.5') && !isLite ? 2 : 1;
  return { frames, references: isLite ? 0 : 7, videos: 1, audios: 0 };
}

function checkInputs(request: VideoRequest): RequestIssue | undefined {
  if (request.extra['video_task'] !== undefined)
    return issue('metadata.video_task', 'video_task needs a video.');
  return request.prompt === '' && imagesOf(request).length === 0
    ? issue('prompt', 'The model needs a prompt.')
    : undefined;
}

const secondsMax = 15;
const ratios = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3'];

function checkOutput(
  { resolution, ratio, duration, firstFrame, references }: VideoRequest,
  model: string,
): RequestIssue | undefined {
  const isFull = model !== 'grok-imagine-video' && references.length === 0;
  const hasImage = firstFrame !== undefined || references.length > 0;
  const resolutions = ['480p', '720p', ...(isFull ? ['1080p'] : [])];
  if (resolution !== undefined && !resolutions.includes(resolution.toLowerCase()))
    return issue('resolution', `resolution must be one of ${resolutions.join(', ')}.`);
  if (ratio !== undefined && !ratios.includes(ratio) && !(ratio === 'adaptive' && hasImage))
    return issue('ratio', `ratio must be one of ${ratios.join(', ')}.`);
  return secondsIssue(duration, { min: 1, max: secondsMax });
}
