import { imagesOf, textOnly } from '../../domain/media-roles.ts';
import type { MediaRoles } from '../../domain/media-roles.ts';
import type { VideoRequest } from '../../domain/request.ts';
import { minimaxModel } from './minimax-models.ts';
import type { MinimaxModel } from './minimax-models.ts';
import type { RequestIssue } from '../provider.ts';
import { issue } from '../shared/request-issue.ts';
import { secondsIssue } from '../shared/seconds-issue.ts';

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
  request: VideoRequest,
  { promptCharactersMax: max, version }: MinimaxModel,
): RequestIssue | undefined {
  const { prompt, draft, tools, seed, generateAudio, watermark, videos, audios } = request;
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
  const asset = [...imagesOf(request), ...videos, ...audios].some((address) => /^asset:/i.test(address));
  return asset ? issue('images', 'The upstream does not support assets; send a URL.') : undefined;
}

const filesMax = 12;

/** Source: the vendor's pages on both interfaces. */
const rolesByInputs: Readonly<Record<MinimaxModel['inputs'], MediaRoles>> = {
  all: { frames: 2, references: 9, videos: 3, audios: 3 },
  text: textOnly,
  frames: { ...textOnly, frames: 2 },
  first_frame: { ...textOnly, frames: 1 },
  first_frame_only: { ...textOnly, frames: 1 },
  subject: { ...textOnly, references: 1 },
};

export function minimaxRoles({ inputs }: MinimaxModel): MediaRoles {
  return rolesByInputs[inputs];
}

function checkReferences({ references, videos, audios }: VideoRequest): RequestIssue | undefined {
  const files = references.length + videos.length;
  if (audios.length > 0 && files === 0) return issue('audios', 'Audio needs an image or a video beside it.');
  return files + audios.length > filesMax
    ? issue('images', `The model accepts at most ${filesMax} files.`)
    : undefined;
}

function checkFrames(request: VideoRequest, { inputs }: MinimaxModel): RequestIssue | undefined {
  const hasImage = imagesOf(request).length > 0;
  if (!hasImage && (inputs === 'first_frame_only' || inputs === 'subject'))
    return issue('images', 'The model needs an image.');
  return !hasImage && request.prompt.trim() === '' ? issue('prompt', 'The model needs a prompt.') : undefined;
}

function checkOutput(
  { resolution, duration, firstFrame }: VideoRequest,
  { resolutions, seconds, shorter }: MinimaxModel,
): RequestIssue | undefined {
  const asked = resolution?.toUpperCase();
  if (asked !== undefined && !resolutions.includes(asked))
    return issue('resolution', `resolution must be one of ${resolutions.join(', ')}.`);
  if (asked === '512P' && firstFrame === undefined)
    return issue('resolution', 'The model renders 512P from an image only.');
  return secondsIssue(duration, shorter?.[asked ?? ''] ?? seconds);
}

const minimaxRatios = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];

/** v2 renders text in a ratio that must be named; frames bring their own. v1 knows no ratio. */
function checkRatio(request: VideoRequest, { version }: MinimaxModel): RequestIssue | undefined {
  const { ratio, firstFrame, videos } = request;
  const isShaped = imagesOf(request).length + videos.length > 0;
  if (ratio === undefined || (isShaped && ratio === 'adaptive')) return undefined;
  if (version === 1) {
    if (isShaped || ratio === '16:9') return undefined;
    return issue('ratio', 'The model renders text at 16:9.');
  }
  if (firstFrame !== undefined || minimaxRatios.includes(ratio)) return undefined;
  return issue('ratio', `ratio must be one of ${minimaxRatios.join(', ')}.`);
}
