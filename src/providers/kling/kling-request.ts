import type { JsonObject, VideoRequest } from '../../domain/request.ts';
import type { Consumption } from '../../domain/consumption.ts';
import { defined } from '../../domain/defined.ts';
import { klingInputs } from './kling-inputs.ts';
import type { KlingInputs } from './kling-inputs.ts';
import { klingModel } from './kling-models.ts';
import type { KlingModel } from './kling-models.ts';
import { withoutDataHead } from '../shared/image-input.ts';
import type { SubmitContext } from '../provider.ts';

export interface KlingSubmission {
  readonly path: string;
  readonly json: JsonObject;
}

type Context = Pick<SubmitContext, 'model' | 'marker' | 'callbackUrl'>;

/** Every name in `metadata` that the gateway decides, in either standard. */
export const klingOwnFields = [
  'model',
  'model_name',
  'prompt',
  'contents',
  'settings',
  'options',
  'resolution',
  'mode',
  'duration',
  'aspect_ratio',
  'ratio',
  'size',
  'audio',
  'sound',
  'image',
  'images',
  'image_tail',
  'image_list',
  'video_list',
  'element_list',
  'refer_type',
  'watermark',
  'watermark_info',
  'callback_url',
  'external_task_id',
  'n',
];
const ownFields = new Set(klingOwnFields);

/** Frames and a video to edit bring their ratio; what cannot be chosen of the sound is refused. */
export function klingConsumes(request: VideoRequest, name: string): Consumption {
  const { frames, video } = klingInputs(request, klingModel(name));
  const isShaped = frames.length > 0 || video?.role === 'base';
  return {
    fields: [
      ...(['resolution', 'duration', 'generateAudio', 'watermark'] as const),
      ...(isShaped ? [] : (['ratio'] as const)),
    ],
    metadata: (field) => !ownFields.has(field) || field === 'element_list' || field === 'refer_type',
  };
}

export function buildKlingVideo(request: VideoRequest, context: Context): KlingSubmission {
  const model = klingModel(context.model);
  const inputs = klingInputs(request, model);
  const extra = Object.fromEntries(Object.entries(request.extra).filter(([field]) => !ownFields.has(field)));
  return model.isLegacy
    ? { path: legacyVideoPath(inputs), json: legacyBody(request, { model, inputs, extra, context }) }
    : { path: newPath(inputs, context), json: newBody(request, { model, inputs, extra, context }) };
}

interface Parts {
  readonly model: KlingModel;
  readonly inputs: KlingInputs;
  readonly extra: JsonObject;
  readonly context: Context;
}

function newPath({ service }: KlingInputs, { model }: Context): string {
  const services = { text: 'text-to-video', image: 'image-to-video', omni: 'omni-video' };
  return `/${services[service === 'multi-image' ? 'image' : service]}/${encodeURIComponent(model)}`;
}

/** What is not known of `metadata` goes to the settings: it is where the new standard keeps what shapes the result. */
function newBody(request: VideoRequest, { model, inputs, extra, context }: Parts): JsonObject {
  const { resolution, duration, watermark } = request;
  const settings = {
    ...extra,
    ...defined({
      resolution: resolution?.toLowerCase(),
      duration: duration === 'auto' ? undefined : duration,
      aspect_ratio: ratioField(request, inputs),
      audio: audioField(request, model, inputs),
    }),
    // An edit has one shot, and the default of some models is several.
    ...(inputs.video?.role === 'base' && model.multiShot ? { multi_shot: false } : {}),
  };
  const text = inputs.service === 'text';
  return {
    ...(text ? { prompt: request.prompt } : { contents: contents(request.prompt, inputs) }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
    options: defined({
      callback_url: context.callbackUrl,
      external_task_id: context.marker,
      watermark_info: watermark === undefined ? undefined : { enabled: watermark },
    }),
  };
}

/** Ids let a prompt name what it means: `@image_1`, `@video_1`, `@element_1`. */
function contents(prompt: string, { frames, references, video, elements }: KlingInputs): JsonObject[] {
  const image = (type: string, url: string) => ({ type, url: withoutDataHead(url) });
  return [
    ...(prompt === '' ? [] : [{ type: 'prompt', text: prompt }]),
    ...frames.map((url, index) => image(index === 0 ? 'first_frame' : 'last_frame', url)),
    ...references.map((url, index) => ({ ...image('refer_image', url), id: `image_${index + 1}` })),
    ...(video === undefined ? [] : [{ type: `${video.role}_video`, url: video.url, id: 'video_1' }]),
    ...elements.map((id, index) => ({ type: 'element', element_id: id, id: `element_${index + 1}` })),
  ];
}

const unspecifiedRatio = '16:9';

/** Frames and a video to edit bring their shape; references alone need one to be named. */
function ratioField({ ratio }: VideoRequest, { service, frames, video }: KlingInputs): string | undefined {
  if (frames.length > 0 || video?.role === 'base') return undefined;
  if (ratio !== undefined && ratio !== 'adaptive') return ratio;
  return service === 'omni' && video === undefined ? unspecifiedRatio : undefined;
}

function audioField(
  { generateAudio }: VideoRequest,
  { sound }: KlingModel,
  { video }: KlingInputs,
): string | undefined {
  if (generateAudio === undefined) return undefined;
  if (video?.role === 'base') return generateAudio ? 'original' : 'off';
  return sound === 'choice' ? (generateAudio ? 'native' : 'off') : undefined;
}

const legacyServices = {
  text: 'text2video',
  image: 'image2video',
  'multi-image': 'multi-image2video',
  omni: 'omni-video',
};

export function legacyVideoPath({ service }: KlingInputs): string {
  return `/v1/videos/${legacyServices[service]}`;
}

const modes: Readonly<Record<string, string>> = { '720p': 'std', '1080p': 'pro', '4k': '4k' };

function legacyBody(request: VideoRequest, { model, inputs, extra, context }: Parts): JsonObject {
  const { resolution, duration, watermark, generateAudio } = request;
  const { sound } = model;
  const speaks = generateAudio !== undefined && sound === 'choice' && inputs.video?.role !== 'base';
  return {
    ...extra,
    ...(request.prompt === '' ? {} : { prompt: request.prompt }),
    model_name: context.model,
    ...legacyMedia(request, inputs),
    ...defined({
      mode: resolution === undefined ? undefined : modes[resolution.toLowerCase()],
      // A string in this standard.
      duration: typeof duration === 'number' ? String(duration) : undefined,
      aspect_ratio: ratioField(request, inputs),
      sound: speaks ? (generateAudio ? 'on' : 'off') : undefined,
      watermark_info: watermark === undefined ? undefined : { enabled: watermark },
      callback_url: context.callbackUrl,
    }),
    external_task_id: context.marker,
  };
}

function legacyMedia({ generateAudio }: VideoRequest, inputs: KlingInputs): JsonObject {
  const { service, frames, references, video, elements } = inputs;
  const [first, last] = frames.map(withoutDataHead);
  const element_list = elements.map((element_id) => ({ element_id }));
  const listed = element_list.length === 0 ? {} : { element_list };
  if (service === 'image') return { ...defined({ image: first, image_tail: last }), ...listed };
  if (service === 'multi-image')
    return { image_list: references.map((url) => ({ image: withoutDataHead(url) })), ...listed };
  if (service === 'text') return {};
  const image_list = [
    ...frames.map((url, index) => ({
      image_url: withoutDataHead(url),
      type: index === 0 ? 'first_frame' : 'end_frame',
    })),
    ...references.map((url) => ({ image_url: withoutDataHead(url) })),
  ];
  const keeps = video?.role === 'base' && generateAudio !== undefined;
  return {
    ...(image_list.length === 0 ? {} : { image_list }),
    ...(video === undefined
      ? {}
      : {
          video_list: [
            {
              video_url: video.url,
              refer_type: video.role,
              ...(keeps ? { keep_original_sound: generateAudio ? 'yes' : 'no' } : {}),
            },
          ],
        }),
    ...listed,
  };
}
