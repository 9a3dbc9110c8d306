import { framesOf } from '../../models/media-roles.ts';
import { passedOn } from '../../models/facts-of-request.ts';
import { readFacts } from '../shared/read-facts.ts';
import type { PlainFacts } from '../../models/model-facts.ts';
import type { JsonObject, VideoRequest } from '../../models/request.ts';
import { linkExpiry, type DashscopeJob } from './dashscope-answer.ts';
import {
  cancelDashscopeTask,
  dashscopeListMax,
  dashscopeStatus,
  listDashscopeTasks,
  submitDashscopeTask,
} from './dashscope-task.ts';
import { dashscopeFacts, videoSizes } from './dashscope-facts.ts';
import { wanModel, type WanModel } from './dashscope-models.ts';
import { defined } from '../../base/defined.ts';
import { signedUrlExpiry } from '../shared/http-outcome.ts';
import type { OperationStatus, RequestIssue, SubmitContext, VideoProvider } from '../provider.ts';
import { issue } from '../shared/request-issue.ts';

/**
 * Wan and HappyHorse videos. Editing models, continuation, templates, voices, and documents or web pages as references
 * are not supported. The upstream has no draft mode, last frame or callbacks, and no list for finding a lost job.
 */
export const dashscopeVideo: VideoProvider = {
  cancelUntil: 'queued',
  check,
  facts: dashscopeFacts,
  submit: async (request, context) => {
    const model = wanModel(context.model);
    const path = model.kind === 'kf2v' ? 'image2video/video-synthesis' : 'video-generation/video-synthesis';
    return submitDashscopeTask(path, buildBody(request, context, model), context);
  },
  status: (operation, context) => dashscopeStatus(operation, context, readVideo),
  cancel: cancelDashscopeTask,
  list: listDashscopeTasks,
  listMax: dashscopeListMax,
};

function check(_: VideoRequest, name: string): RequestIssue | undefined {
  return /video-?edit/.test(name)
    ? issue('model', 'This adapter does not serve models that edit videos.')
    : undefined;
}

const unspecifiedResolution = '720p';
const unspecifiedRatio = '16:9';

function buildBody(
  request: VideoRequest,
  context: Pick<SubmitContext, 'model' | 'facts'>,
  model: WanModel,
): JsonObject {
  const own = readFacts(request, dashscopeFacts, context);
  // The upstream expects `negative_prompt` next to the prompt.
  const { negative_prompt: negative, ...parameters } = passedOn(request, own);
  const { duration, seed, watermark, generateAudio } = request;
  return {
    model: context.model,
    input: {
      ...defined({ negative_prompt: negative }),
      prompt: request.prompt,
      ...mediaFields(request, model),
    },
    parameters: {
      ...parameters,
      ...shapeFields(request, model, own),
      ...defined({
        duration: duration === 'auto' ? -1 : duration,
        seed,
        watermark,
        audio: own.sound === 'never' ? undefined : generateAudio,
      }),
    },
  };
}

function mediaFields(request: VideoRequest, model: WanModel): JsonObject {
  const { firstFrame, lastFrame, references, videos, audios } = request;
  const [audio] = audios;
  if (model.mediaList) {
    const media = mediaItems(request, model);
    if (model.kind === 't2v' && media.length === audios.length) return defined({ audio_url: audio });
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

function shapeFields(
  { resolution, ratio }: VideoRequest,
  { shape }: WanModel,
  { fields = {} }: PlainFacts,
): JsonObject {
  const named = ratio === 'adaptive' ? undefined : ratio;
  if (shape !== 'size')
    return defined({
      resolution: resolution?.toUpperCase(),
      ratio: fields.ratio === true ? named : undefined,
    });
  if (resolution === undefined && named === undefined) return {};
  const sizes = videoSizes[(resolution ?? unspecifiedResolution).toLowerCase()];
  const size = sizes?.[named ?? unspecifiedRatio] ?? named ?? unspecifiedRatio;
  return { size: size.replace('x', '*') };
}

function readVideo(job: DashscopeJob): OperationStatus | undefined {
  const { video_url: url, end_time: endTime } = job.output;
  if (url === undefined) return undefined;
  const { usage } = job;
  const rendered = usage?.output_video_duration ?? usage?.video_duration ?? usage?.duration;
  // `duration` is the billed total of input and output seconds.
  const billed = usage?.duration ?? 0;
  const inputSeconds =
    usage?.input_video_duration ??
    (rendered === undefined || billed <= rendered ? undefined : billed - rendered);
  return {
    state: 'succeeded',
    items: [defined({ url, expiresAt: signedUrlExpiry(url) ?? linkExpiry(endTime) })],
    facts: defined({
      durationSeconds: rendered,
      inputSeconds,
      resolution: usage?.SR === undefined ? undefined : `${usage.SR}p`,
      ratio: usage?.video_ratio,
      size: usage?.size?.replace('*', 'x'),
    }),
  };
}
