import type { Consumption } from '../../domain/consumption.ts';
import { framesOf, textOnly } from '../../domain/media-roles.ts';
import type { MediaRoles } from '../../domain/media-roles.ts';
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
import { secondsIssue } from '../shared/seconds-issue.ts';

/**
 * Wan and HappyHorse videos. Not covered: the editing models, continuation, templates, voices, documents and web pages
 * as references. The upstream knows no draft mode, no last frame, no callback, and no list that a lost job could be
 * found in.
 */
export const dashscopeVideo: VideoProvider = {
  cancelUntil: 'queued',
  check,
  roles: (_, model) => rolesOf(wanModel(model)),
  consumes: (_, model) => consumptionOf(wanModel(model)),
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

/** Source: the vendor's parameter tables. Frames and references never go together. */
function rolesOf({ kind, lastFrame, references, audiosMax: audios }: WanModel): MediaRoles {
  switch (kind) {
    case 't2v':
      return { ...textOnly, audios };
    case 'i2v':
      return { ...textOnly, frames: lastFrame ? 2 : 1, audios, besideFrames: ['audios'] };
    case 'kf2v':
      return { ...textOnly, frames: 2 };
    case 'r2v':
      return { ...textOnly, references: references.images, videos: references.videos, audios };
    case 'any':
    case 'edit':
      return { frames: 2, references: references.images, videos: references.videos, audios };
    default:
      return kind satisfies never;
  }
}

/** What a model needs to be given. */
function checkInputs(request: VideoRequest, { kind, references: max }: WanModel): RequestIssue | undefined {
  const { firstFrame, lastFrame, references, videos } = request;
  if (kind === 'edit') return issue('model', 'Models that edit a video are not served.');
  if (kind === 'i2v' && firstFrame === undefined) return issue('images', 'The model needs a first frame.');
  if (kind === 'kf2v' && lastFrame === undefined)
    return issue('images', 'The model needs a first and a last frame.');
  if (kind !== 'r2v') return undefined;
  // Images and videos are counted together.
  const count = references.length + videos.length;
  if (count === 0) return issue('images', 'The model needs reference images or videos.');
  return count > max.images
    ? issue('images', `The model accepts at most ${max.images} references.`)
    : undefined;
}

function checkOutput(request: VideoRequest, model: WanModel): RequestIssue | undefined {
  const { resolution, ratio, duration, draft, tools, generateAudio, seed } = request;
  if (resolution !== undefined && !model.resolutions.includes(resolution.toLowerCase())) {
    return { param: 'resolution', message: `resolution must be one of ${model.resolutions.join(', ')}.` };
  }
  const length = secondsIssue(duration ?? defaultSeconds.min, model.durations, model.autoDuration);
  if (length !== undefined) return length;
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

/** What cannot be chosen of the sound is refused. */
function consumptionOf({ shape }: WanModel): Consumption {
  return {
    fields: [
      ...(['resolution', 'duration', 'seed', 'watermark', 'generateAudio'] as const),
      ...(shape === 'resolution' ? [] : (['ratio'] as const)),
    ],
    metadata: (name) => !ownFields.has(name),
  };
}

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
  const { firstFrame, lastFrame, references, videos, audios } = request;
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
      return defined({ img_url: firstFrame, audio_url: audio });
    case 'kf2v':
      return defined({ first_frame_url: firstFrame, last_frame_url: lastFrame });
    case 'r2v':
      return defined({ reference_urls: [...references, ...videos], audio_url: audio });
    case 'any':
    case 'edit':
      return {};
    default:
      return model.kind satisfies never;
  }
}

function mediaItems(request: VideoRequest, { kind }: WanModel): JsonObject[] {
  const item = (type: string) => (url: string) => ({ type, url });
  const { references, videos, audios } = request;
  return [
    ...framesOf(request).map((url, index) => item(index === 0 ? 'first_frame' : 'last_frame')(url)),
    ...references.map(item('reference_image')),
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
