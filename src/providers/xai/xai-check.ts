import type { VideoRequest } from '../../domain/request.ts';
import { xaiOperation } from './xai-request.ts';
import type { RequestIssue } from '../provider.ts';
import { issue } from '../shared/request-issue.ts';

/** Why Grok Imagine cannot render the request; what only the vendor knows is left to its answer. */
export function checkXaiVideo(request: VideoRequest, model: string): RequestIssue | undefined {
  const operation = xaiOperation(request);
  return (
    checkFields(request) ??
    (operation === 'generations' ? checkInputs(request, model) : checkVideo(request, model)) ??
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
  if (request.audios.length > 0)
    return issue('audios', 'The model accepts voices only: metadata.reference_audios.');
  const asset = [...request.images, ...request.videos].some((address) => /^asset:/i.test(address));
  return asset ? issue('images', 'The upstream does not support assets; send a URL.') : undefined;
}

/**
 * An edit or an extension: of one video, and of its shape, whatever the request and the model's entry say of it. An edit
 * has the length of its video, too.
 */
function checkVideo(request: VideoRequest, model: string): RequestIssue | undefined {
  const { prompt, images, videos, duration, generateAudio } = request;
  if (videos.length > 1) return issue('videos', 'The model accepts one video.');
  if (images.length > 0) return issue('images', 'The model does not accept images beside a video.');
  if (prompt === '') return issue('prompt', 'The model needs a prompt.');
  if (generateAudio === false)
    return issue('metadata.generate_audio', 'The result has the sound of its video.');
  const isExtension = xaiOperation(request) === 'extensions';
  if (isExtension && model !== 'grok-imagine-video')
    return issue('metadata.video_task', 'The model extends no video.');
  if (!isExtension || duration === undefined) return undefined;
  if (duration !== 'auto' && duration >= 2 && duration <= 10) return undefined;
  return issue('duration', 'duration must be from 2 to 10 seconds, which are added.');
}

const referencesMax = 7;

function checkInputs(
  { prompt, inputType, images, extra }: VideoRequest,
  model: string,
): RequestIssue | undefined {
  if (extra['video_task'] !== undefined) return issue('metadata.video_task', 'video_task needs a video.');
  if (prompt === '' && images.length === 0) return issue('prompt', 'The model needs a prompt.');
  if (inputType === 'first_last_frame') {
    const max = /^grok-imagine-video-1\.5(?!-lite)/.test(model) ? 2 : 1;
    return images.length >= 1 && images.length <= max
      ? undefined
      : issue(
          'images',
          max === 1 ? 'The model accepts a first frame.' : 'The model accepts one or two frames.',
        );
  }
  const max = model.endsWith('-lite') ? 1 : referencesMax;
  return images.length <= max ? undefined : issue('images', `The model accepts at most ${max} images.`);
}

const secondsMax = 15;
const ratios = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3'];

function checkOutput(
  { resolution, ratio, duration, images, inputType }: VideoRequest,
  model: string,
): RequestIssue | undefined {
  const areReferences = inputType === 'reference' && images.length > 1;
  const isFull = model !== 'grok-imagine-video' && !areReferences;
  const resolutions = ['480p', '720p', ...(isFull ? ['1080p'] : [])];
  if (resolution !== undefined && !resolutions.includes(resolution.toLowerCase()))
    return issue('resolution', `resolution must be one of ${resolutions.join(', ')}.`);
  if (ratio !== undefined && !ratios.includes(ratio) && !(ratio === 'adaptive' && images.length > 0))
    return issue('ratio', `ratio must be one of ${ratios.join(', ')}.`);
  if (duration === undefined || (duration !== 'auto' && duration <= secondsMax)) return undefined;
  return issue('duration', `duration must be from 1 to ${secondsMax} seconds.`);
}
