import type { JsonObject, VideoRequest } from '../../domain/request.ts';
import type { DashscopeJob } from './dashscope-answer.ts';
import { linkExpiry } from './dashscope-answer.ts';
import {
  cancelDashscopeTask,
  dashscopeListMax,
  dashscopeStatus,
  listDashscopeTasks,
  submitDashscopeTask,
} from './dashscope-task.ts';
import { wanModel } from './dashscope-models.ts';
import type { WanModel } from './dashscope-models.ts';
import { defined } from '../../domain/defined.ts';
import { signedUrlExpiry } from '../shared/http-outcome.ts';
import type { OperationStatus, PossibleOutput, RequestIssue, VideoProvider } from '../provider.ts';
import { issue } from '../shared/request-issue.ts';

/**
 * Wan and HappyHorse videos. Not covered: the editing models, continuation, templates, voices, documents and web pages
 * as references. The upstream knows no draft mode, no last frame, no callback, and no list that a lost job could be
 * found in.
 */
export const dashscopeVideo: VideoProvider = {
  cancelUntil: 'queued',
  check,
  submit: async (request, context) => {
    const model = wanModel(context.model);
    const path = model.kind === 'kf2v' ? 'image2video/video-synthesis' : 'video-generation/video-synthesis';
    return submitDashscopeTask(path, buildBody(request, context.model, model), context);
  },
  status: (operation, context) => dashscopeStatus(operation, context, readVideo),
  cancel: cancelDashscopeTask,
  list: listDashscopeTasks,
  listMax: dashscopeListMax,
  renders,
};

/** Source: the vendor's parameter tables; the older models render 720p by default, the newer ones 1080p. */
function renders({ resolution, duration, videos }: VideoRequest, name: string): PossibleOutput {
  const seconds = duration === 'auto' ? chosenSeconds : duration === undefined ? defaultSeconds : undefined;
  return defined({
    resolutions: resolution === undefined ? ['720p', '1080p'] : undefined,
    seconds:
      videos.length === 0 ? seconds : withInputs(seconds ?? { min: Number(duration), max: Number(duration) }),
    openRatio: wanModel(name).shape === 'resolution',
  });
}

/** The seconds of videos that are given are billed as those that are rendered; both together have a limit. */
function withInputs({ min, max }: { readonly min: number; readonly max: number }) {
  return { min, max: Math.max(max, Math.min(chosenSeconds.max, max + inputSecondsMax)) };
}

function check(request: VideoRequest, name: string): RequestIssue | undefined {
  const model = wanModel(name);
  return checkInputs(request, model) ?? checkOutput(request, model);
}

function checkInputs(
  { inputType, images, videos, audios }: VideoRequest,
  model: WanModel,
): RequestIssue | undefined {
  if (audios.length > model.audiosMax) {
    return issue(
      'audios',
      model.audiosMax === 0
        ? 'The model does not accept audio.'
        : `The model accepts at most ${model.audiosMax} audio.`,
    );
  }
  switch (model.kind) {
    case 't2v':
      return images.length + videos.length === 0
        ? undefined
        : issue('input_type', 'The model accepts text only.');
    case 'i2v': {
      if (videos.length > 0) return issue('videos', 'The model does not accept video.');
      const max = model.lastFrame && inputType === 'first_last_frame' ? 2 : 1;
      if (images.length >= 1 && images.length <= max) return undefined;
      return issue(
        'images',
        max === 1 ? 'The model accepts one image.' : 'The model accepts one or two images.',
      );
    }
    case 'kf2v':
      if (videos.length > 0) return issue('videos', 'The model does not accept video.');
      return inputType === 'first_last_frame' && images.length === 2
        ? undefined
        : issue('images', 'The model accepts a first and a last frame.');
    case 'r2v':
      return inputType === 'reference' && images.length + videos.length > 0
        ? checkReferences(images, videos, model)
        : issue('input_type', 'The model accepts reference images or videos.');
    case 'any':
      return inputType === 'first_last_frame'
        ? checkFrames(images, [...videos, ...audios])
        : checkReferences(images, videos, model);
    case 'edit':
      return issue('model', 'Models that edit a video are not served.');
    default:
      return model.kind satisfies never;
  }
}

/** Frames and references never go together. */
function checkFrames(images: readonly string[], others: readonly string[]): RequestIssue | undefined {
  if (others.length > 0) return { param: 'input_type', message: 'first_last_frame accepts images only.' };
  return images.length >= 1 && images.length <= 2
    ? undefined
    : { param: 'images', message: 'first_last_frame accepts one or two images.' };
}

function checkReferences(
  images: readonly string[],
  videos: readonly string[],
  { kind, references }: WanModel,
): RequestIssue | undefined {
  const tooMany = (param: string, max: number): RequestIssue => ({
    param,
    message: max === 0 ? `The model does not accept ${param}.` : `The model accepts at most ${max} ${param}.`,
  });
  if (videos.length > references.videos) return tooMany('videos', references.videos);
  // The references of this kind are counted together.
  const counted = kind === 'r2v' ? images.length + videos.length : images.length;
  return counted > references.images ? tooMany('images', references.images) : undefined;
}

function checkOutput(request: VideoRequest, model: WanModel): RequestIssue | undefined {
  const { resolution, ratio, duration, draft, tools, generateAudio, seed } = request;
  if (resolution !== undefined && !model.resolutions.includes(resolution.toLowerCase())) {
    return { param: 'resolution', message: `resolution must be one of ${model.resolutions.join(', ')}.` };
  }
  const fits =
    duration === 'auto' ? model.autoDuration : model.durations.includes(duration ?? defaultSeconds.min);
  if (!fits) {
    return { param: 'duration', message: `duration must be one of ${model.durations.join(', ')}.` };
  }
  // Where a size is sent, it must exist: without one the upstream would render, and bill, its own.
  const row = model.shape === 'size' ? rowOf(resolution) : anySize;
  if (ratio !== undefined && ratio !== 'adaptive' && model.shape !== 'resolution' && !(ratio in row)) {
    return { param: 'ratio', message: `ratio must be one of ${Object.keys(row).join(', ')}.` };
  }
  if (draft === true) return { param: 'metadata.draft', message: 'The model has no draft mode.' };
  if (tools !== undefined) return { param: 'metadata.tools', message: 'The model does not accept tools.' };
  if (generateAudio === true && !model.generatesAudio) {
    return { param: 'metadata.generate_audio', message: 'The model does not generate audio.' };
  }
  return seed !== undefined && (seed < 0 || seed > 2_147_483_647)
    ? { param: 'metadata.seed', message: 'seed must be from 0 to 2147483647.' }
    : undefined;
}

/** With an asterisk; source: the vendor's list of common sizes. */
const videoSizes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '480p': { '16:9': '832*480', '9:16': '480*832', '1:1': '624*624' },
  '720p': { '16:9': '1280*720', '9:16': '720*1280', '1:1': '960*960', '4:3': '1088*832', '3:4': '832*1088' },
  '1080p': {
    '16:9': '1920*1080',
    '9:16': '1080*1920',
    '1:1': '1440*1440',
    '4:3': '1632*1248',
    '3:4': '1248*1632',
  },
};
const anySize = videoSizes['1080p'] ?? {};
const unspecifiedResolution = '720p';
const unspecifiedRatio = '16:9';
const defaultSeconds = { min: 5, max: 5 };
/** Where the model chooses. */
const chosenSeconds = { min: 2, max: 30 };
/** Of all videos that a request gives. */
const inputSecondsMax = 15;

/** What of `metadata` belongs beside the prompt; the rest goes to the parameters. */
const inputFields = ['negative_prompt'];
const ownFields = new Set([
  'model',
  'input',
  'parameters',
  'prompt',
  'img_url',
  'first_frame_url',
  'last_frame_url',
  'audio_url',
  'reference_url',
  'reference_urls',
  'reference_video_urls',
  'media',
  'callback_url',
  'safety_identifier',
  'execution_expires_after',
  'size',
  'resolution',
  'ratio',
  'duration',
  'seed',
  'watermark',
  'audio',
  'n',
]);

function buildBody(request: VideoRequest, name: string, model: WanModel): JsonObject {
  const extra = Object.entries(request.extra).filter(([field]) => !ownFields.has(field));
  const { duration, seed, watermark, generateAudio } = request;
  return {
    model: name,
    input: {
      ...Object.fromEntries(extra.filter(([field]) => inputFields.includes(field))),
      prompt: request.prompt,
      ...mediaFields(request, model),
    },
    parameters: {
      ...Object.fromEntries(extra.filter(([field]) => !inputFields.includes(field))),
      ...shapeFields(request, model),
      ...defined({
        duration: duration === 'auto' ? -1 : duration,
        seed,
        watermark,
        audio: model.generatesAudio ? generateAudio : undefined,
      }),
    },
  };
}

function mediaFields(request: VideoRequest, model: WanModel): JsonObject {
  const { images, videos, audios } = request;
  const [first, last] = images;
  const [audio] = audios;
  if (model.mediaList) {
    if (model.kind === 't2v') return defined({ audio_url: audio });
    const media = mediaItems(request, model);
    return media.length === 0 ? {} : { media };
  }
  switch (model.kind) {
    case 't2v':
      return defined({ audio_url: audio });
    case 'i2v':
      return defined({ img_url: first, audio_url: audio });
    case 'kf2v':
      return defined({ first_frame_url: first, last_frame_url: last });
    case 'r2v':
      return defined({ reference_urls: [...images, ...videos], audio_url: audio });
    case 'any':
    case 'edit':
      return {};
    default:
      return model.kind satisfies never;
  }
}

function mediaItems({ inputType, images, videos, audios }: VideoRequest, { kind }: WanModel): JsonObject[] {
  const item = (type: string) => (url: string) => ({ type, url });
  const frames = kind === 'i2v' || (kind === 'any' && inputType === 'first_last_frame');
  return [
    ...images.map((url, index) =>
      item(frames ? (index === 0 ? 'first_frame' : 'last_frame') : 'reference_image')(url),
    ),
    ...videos.map(item('reference_video')),
    ...audios.map(item(kind === 'i2v' ? 'driving_audio' : 'reference_audio')),
  ];
}

function shapeFields({ resolution, ratio }: VideoRequest, model: WanModel): JsonObject {
  const shape = ratio === 'adaptive' ? undefined : ratio;
  if (model.shape !== 'size') {
    return defined({
      resolution: resolution?.toUpperCase(),
      ratio: model.shape === 'resolution_and_ratio' ? shape : undefined,
    });
  }
  if (resolution === undefined && shape === undefined) return {};
  return defined({ size: rowOf(resolution)[shape ?? unspecifiedRatio] });
}

function rowOf(resolution: string | undefined): Readonly<Record<string, string>> {
  return videoSizes[(resolution ?? unspecifiedResolution).toLowerCase()] ?? {};
}

function readVideo(job: DashscopeJob): OperationStatus | undefined {
  const { video_url: url, end_time: endTime } = job.output;
  if (url === undefined) return undefined;
  const { usage } = job;
  const rendered = usage?.output_video_duration ?? usage?.video_duration ?? usage?.duration;
  const billed = usage?.duration === rendered ? undefined : usage?.duration;
  return {
    state: 'succeeded',
    items: [defined({ url, expiresAt: signedUrlExpiry(url) ?? linkExpiry(endTime) })],
    facts: defined({
      durationSeconds: rendered,
      billedSeconds: billed,
      resolution: usage?.SR === undefined ? undefined : `${usage.SR}p`,
      ratio: usage?.video_ratio,
      size: usage?.size?.replace('*', 'x'),
    }),
  };
}
