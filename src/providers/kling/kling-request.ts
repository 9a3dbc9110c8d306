import type { JsonObject, VideoRequest } from '../../models/request.ts';
import { defined } from '../../base/defined.ts';
import { passedOn } from '../../models/facts-of-request.ts';
import type { PlainFacts } from '../../models/model-facts.ts';
import { klingFacts } from './kling-facts.ts';
import { isLegacyKling, klingInputs, type KlingInputs } from './kling-inputs.ts';
import { withoutDataHead } from '../shared/image-input.ts';
import { readFacts } from '../shared/read-facts.ts';
import type { SubmitContext } from '../provider.ts';

export interface KlingSubmission {
  readonly path: string;
  readonly json: JsonObject;
}

type Context = Pick<SubmitContext, 'model' | 'facts' | 'marker' | 'callbackUrl'>;

export function buildKlingVideo(request: VideoRequest, context: Context): KlingSubmission {
  const facts = readFacts(request, klingFacts, context);
  const inputs = klingInputs(request, context.model);
  const parts = { inputs, facts, extra: passedOn(request, facts), context };
  return isLegacyKling(context.model)
    ? { path: legacyVideoPath(inputs), json: legacyBody(request, parts) }
    : { path: newPath(inputs, context), json: newBody(request, parts) };
}

interface Parts {
  readonly inputs: KlingInputs;
  readonly facts: PlainFacts;
  readonly extra: JsonObject;
  readonly context: Context;
}

const services: Readonly<Record<KlingInputs['service'], string>> = {
  text: 'text-to-video',
  image: 'image-to-video',
  'multi-image': 'omni-video',
  omni: 'omni-video',
  motion: 'motion-control',
};

function newPath({ service }: KlingInputs, { model }: Context): string {
  return `/${services[service]}/${encodeURIComponent(model)}`;
}

/** Unknown `metadata` fields go into the settings, where the new standard has the fields that affect the result. */
function newBody(request: VideoRequest, { inputs, facts, extra, context }: Parts): JsonObject {
  const { resolution, watermark } = request;
  const settings = {
    ...extra,
    ...defined({
      resolution: resolution?.toLowerCase(),
      duration: secondsField(request, facts),
      aspect_ratio: ratioField(request, inputs, facts),
      audio: audioField(request, inputs, facts),
    }),
    // An edit has one shot, but the model's default is several.
    ...(isEdit(inputs) && context.model.startsWith('kling-3.0') ? { multi_shot: false } : {}),
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

/** A prompt can refer to these items by id: `@image_1`, `@video_1`, `@element_1`. */
function contents(prompt: string, inputs: KlingInputs): JsonObject[] {
  const { service, frames, references, video, elements } = inputs;
  const image = (type: string, url: string) => ({ type, url: withoutDataHead(url) });
  const text = prompt === '' ? [] : [{ type: 'prompt', text: prompt }];
  if (service === 'motion')
    return [
      ...text,
      ...references.map((url) => image('image', url)),
      ...(video === undefined ? [] : [{ type: 'video', url: video.url }]),
    ];
  return [
    ...text,
    ...frames.map((url, index) => image(index === 0 ? 'first_frame' : 'last_frame', url)),
    ...references.map((url, index) => ({ ...image('refer_image', url), id: `image_${index + 1}` })),
    ...(video === undefined ? [] : [{ type: `${video.role}_video`, url: video.url, id: 'video_1' }]),
    ...elements.map((id, index) => ({ type: 'element', element_id: id, id: `element_${index + 1}` })),
  ];
}

function isEdit({ video }: KlingInputs): boolean {
  return video?.role === 'base';
}

/** Returns true if the result can keep the input's sound. No other sound is generated then. */
function bringsSound(inputs: KlingInputs): boolean {
  return isEdit(inputs) || inputs.service === 'motion';
}

function secondsField({ duration }: VideoRequest, { fields = {} }: PlainFacts): number | undefined {
  return fields.duration === true && typeof duration === 'number' ? duration : undefined;
}

const ratioUnsaid = '16:9';

/** A reference video may determine the shape. With only other references, the request must specify a ratio. */
function ratioField(
  { ratio }: VideoRequest,
  { service, video }: KlingInputs,
  { fields = {} }: PlainFacts,
): string | undefined {
  if (fields.ratio !== true) return undefined;
  if (video !== undefined) return ratio === 'adaptive' ? undefined : ratio;
  return ratio ?? (service === 'omni' ? ratioUnsaid : undefined);
}

function canChoose({ sound = 'choice' }: PlainFacts): boolean {
  return sound === 'choice';
}

function audioField(
  { generateAudio }: VideoRequest,
  inputs: KlingInputs,
  facts: PlainFacts,
): string | undefined {
  if (generateAudio === undefined || !canChoose(facts)) return undefined;
  return generateAudio ? (bringsSound(inputs) ? 'original' : 'native') : 'off';
}

const legacyServices = {
  text: 'text2video',
  image: 'image2video',
  'multi-image': 'multi-image2video',
  omni: 'omni-video',
  motion: 'motion-control',
};

export function legacyVideoPath({ service }: KlingInputs): string {
  return `/v1/videos/${legacyServices[service]}`;
}

const modes: Readonly<Record<string, string>> = { '720p': 'std', '1080p': 'pro', '4k': '4k' };

function legacyBody(request: VideoRequest, { inputs, facts, extra, context }: Parts): JsonObject {
  const { resolution, watermark, generateAudio } = request;
  const seconds = secondsField(request, facts);
  const speaks = generateAudio !== undefined && canChoose(facts);
  return {
    ...extra,
    ...(request.prompt === '' ? {} : { prompt: request.prompt }),
    model_name: context.model,
    ...legacyMedia(inputs, speaks ? generateAudio : undefined),
    ...defined({
      mode: resolution === undefined ? undefined : (modes[resolution.toLowerCase()] ?? resolution),
      duration: seconds === undefined ? undefined : String(seconds),
      aspect_ratio: ratioField(request, inputs, facts),
      sound: speaks && !isEdit(inputs) ? (generateAudio ? 'on' : 'off') : undefined,
      watermark_info: watermark === undefined ? undefined : { enabled: watermark },
      callback_url: context.callbackUrl,
    }),
    external_task_id: context.marker,
  };
}

function legacyMedia(inputs: KlingInputs, sound: boolean | undefined): JsonObject {
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
  const keeps = isEdit(inputs) && sound !== undefined;
  return {
    ...(image_list.length === 0 ? {} : { image_list }),
    ...(video === undefined
      ? {}
      : {
          video_list: [
            {
              video_url: video.url,
              refer_type: video.role,
              ...(keeps ? { keep_original_sound: sound ? 'yes' : 'no' } : {}),
            },
          ],
        }),
    ...listed,
  };
}
