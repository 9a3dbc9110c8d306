import type { VideoRequest } from '../../domain/request.ts';
import { minimaxModel } from './minimax-models.ts';
import type { MinimaxModel } from './minimax-models.ts';
import type { RequestIssue } from '../provider.ts';
import { issue } from '../shared/request-issue.ts';

/** Why MiniMax cannot render the request; what only the vendor knows is left to its answer. */
export function checkMinimaxVideo(request: VideoRequest, name: string): RequestIssue | undefined {
  const model = minimaxModel(name);
  return (
    checkText(request, model) ??
    (model.version === 2 ? checkReferences(request) : checkFrames(request, model)) ??
    checkOutput(request, model) ??
    checkRatio(request, model)
  );
}

function checkText(
  { prompt, draft, tools, seed, generateAudio, watermark, images, videos, audios }: VideoRequest,
  { promptCharactersMax: max, version }: MinimaxModel,
): RequestIssue | undefined {
  if (version === 2 && prompt.trim() === '') return issue('prompt', 'The model needs a prompt.');
  if (prompt.length > max) return issue('prompt', `The prompt must not exceed ${max} characters.`);
  if (draft === true) return issue('metadata.draft', 'The model has no draft mode.');
  if (tools !== undefined) return issue('metadata.tools', 'The model does not accept tools.');
  if (seed !== undefined) return issue('metadata.seed', 'The model does not accept a seed.');
  if (version === 2 && generateAudio === false)
    return issue('metadata.generate_audio', 'The model always generates audio.');
  if (version === 1 && generateAudio === true)
    return issue('metadata.generate_audio', 'The model does not generate audio.');
  if (version === 1 && watermark === true) return issue('metadata.watermark', 'The model sets no watermark.');
  const asset = [...images, ...videos, ...audios].some((address) => /^asset:/i.test(address));
  return asset ? issue('images', 'The upstream does not support assets; send a URL.') : undefined;
}

const maxima = { images: 9, videos: 3, audios: 3 } as const;
const filesMax = 12;

function checkReferences(request: VideoRequest): RequestIssue | undefined {
  const { inputType, images, videos, audios } = request;
  if (inputType === 'first_last_frame') {
    if (videos.length + audios.length > 0)
      return issue('input_type', 'first_last_frame accepts images only.');
    return images.length >= 1 && images.length <= 2
      ? undefined
      : issue('images', 'first_last_frame accepts one or two images.');
  }
  for (const kind of ['images', 'videos', 'audios'] as const)
    if (request[kind].length > maxima[kind])
      return issue(kind, `The model accepts at most ${maxima[kind]} ${kind}.`);
  const files = images.length + videos.length;
  if (audios.length > 0 && files === 0) return issue('audios', 'Audio needs an image or a video beside it.');
  return files + audios.length > filesMax
    ? issue('images', `The model accepts at most ${filesMax} files.`)
    : undefined;
}

/** How many images each kind of model needs, and accepts at most. */
const imageCounts = {
  all: [0, 2],
  text: [0, 0],
  frames: [0, 2],
  first_frame: [0, 1],
  first_frame_only: [1, 1],
  subject: [1, 1],
} as const;

function checkFrames(
  { prompt, inputType, images, videos, audios }: VideoRequest,
  { inputs }: MinimaxModel,
): RequestIssue | undefined {
  if (videos.length > 0) return issue('videos', 'The model does not accept video.');
  if (audios.length > 0) return issue('audios', 'The model does not accept audio.');
  const [min, max] = imageCounts[inputs];
  const most = inputs === 'frames' && inputType !== 'first_last_frame' ? 1 : max;
  if (images.length < min) return issue('images', 'The model needs an image.');
  if (images.length > most) {
    const message = most === 0 ? 'The model accepts text only.' : 'The model accepts one image.';
    return issue('images', inputs === 'frames' ? 'Two images must be a first and a last frame.' : message);
  }
  return images.length === 0 && prompt.trim() === ''
    ? issue('prompt', 'The model needs a prompt.')
    : undefined;
}

function checkOutput(
  { resolution, duration, images }: VideoRequest,
  { resolutions, seconds, shorter }: MinimaxModel,
): RequestIssue | undefined {
  const asked = resolution?.toUpperCase();
  if (asked !== undefined && !resolutions.includes(asked))
    return issue('resolution', `resolution must be one of ${resolutions.join(', ')}.`);
  if (asked === '512P' && images.length === 0)
    return issue('resolution', 'The model renders 512P from an image only.');
  const lengths = shorter?.[asked ?? ''] ?? seconds;
  if (duration === undefined || (duration !== 'auto' && lengths.includes(duration))) return undefined;
  return issue('duration', `duration must be one of ${lengths.join(', ')}.`);
}

const minimaxRatios = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];

/** v2 renders text in a ratio that must be named; frames bring their own. v1 knows no ratio. */
function checkRatio(
  { ratio, inputType, images, videos }: VideoRequest,
  { version }: MinimaxModel,
): RequestIssue | undefined {
  const isShaped = images.length + videos.length > 0;
  if (ratio === undefined || (isShaped && ratio === 'adaptive')) return undefined;
  if (version === 1) {
    if (isShaped || ratio === '16:9') return undefined;
    return issue('ratio', 'The model renders text at 16:9.');
  }
  if (inputType === 'first_last_frame' || minimaxRatios.includes(ratio)) return undefined;
  return issue('ratio', `ratio must be one of ${minimaxRatios.join(', ')}.`);
}
