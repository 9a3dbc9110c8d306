import { z } from 'zod';
import type { FaultSet } from '../fault.ts';
import { check, parseJson } from '../wire.ts';
import { badParameter, klingProblems } from './kling-error.ts';
import { klingSize } from './kling-models.ts';
import type { KlingDetail } from './kling-models.ts';
import { commonOptions, mediaUrl } from './kling-request.ts';

/** The legacy standard: `model_name` in the body, durations as strings. */

const common = {
  model_name: z.string().optional(),
  prompt: z.string().max(2500).optional(),
  negative_prompt: z.string().max(2500).optional(),
  ...commonOptions,
};
const elementList = z.array(z.strictObject({ element_id: z.union([z.string(), z.number()]) })).optional();
/** The name of the address is not verified for every path: both are read. */
const imageItem = z
  .strictObject({
    image: mediaUrl.optional(),
    image_url: mediaUrl.optional(),
    type: z.enum(['first_frame', 'end_frame']).optional(),
  })
  .refine(({ image, image_url }) => image !== undefined || image_url !== undefined, 'no address');
const videoSchema = z.looseObject({
  ...common,
  mode: z.enum(['std', 'pro', '4k']).default('std'),
  duration: z.string().default('5'),
  aspect_ratio: z.enum(['16:9', '9:16', '1:1']).optional(),
  cfg_scale: z.number().min(0).max(1).optional(),
  sound: z.enum(['on', 'off']).optional(),
  image: mediaUrl.optional(),
  image_tail: mediaUrl.optional(),
  image_list: z.array(imageItem).optional(),
  video_list: z
    .array(
      z.strictObject({
        video_url: z.url(),
        refer_type: z.enum(['feature', 'base']).optional(),
        keep_original_sound: z.enum(['yes', 'no']).optional(),
      }),
    )
    .max(1)
    .optional(),
  element_list: elementList,
});
const imageSchema = z.looseObject({
  ...common,
  prompt: z.string().min(1).max(2500),
  image: mediaUrl.optional(),
  image_list: z.array(imageItem).max(10).optional(),
  image_reference: z.enum(['subject', 'face']).optional(),
  element_list: elementList,
  resolution: z.enum(['1k', '2k', '4k']).default('1k'),
  n: z.int().min(1).max(9).default(1),
  aspect_ratio: z.enum(['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9']).default('16:9'),
});

type VideoBody = z.infer<typeof videoSchema>;
type ImageBody = z.infer<typeof imageSchema>;

export const legacyVideoServices = ['text2video', 'image2video', 'multi-image2video', 'omni-video'];
export const legacyImageServices = ['generations', 'omni-image'];

export interface LegacyBody {
  readonly model: string;
  readonly prompt: string;
  readonly callbackUrl: string | undefined;
  readonly externalId: string | undefined;
  /** @throws {KlingError} */
  readonly settle: (model: string, faults: FaultSet) => KlingDetail;
}

/** @throws {KlingError} 1201 */
export function readLegacyBody(kind: 'video' | 'image', service: string, raw: Buffer): LegacyBody {
  const refuse = ({ path, reason }: { path: string; reason: string }) => badParameter(`${path}: ${reason}`);
  const json = parseJson(raw);
  if (kind === 'image') {
    const body = check(imageSchema, json, refuse);
    return outline(body, service === 'omni-image' ? 'kling-image-o1' : 'kling-v3', (model) =>
      settleImage(body, service, model),
    );
  }
  const body = check(videoSchema, json, refuse);
  return outline(body, service === 'omni-video' ? 'kling-video-o1' : 'kling-v1', (model, faults) =>
    settleVideo(body, { service, model }, faults),
  );
}

function outline(
  body: VideoBody | ImageBody,
  modelDefault: string,
  settle: LegacyBody['settle'],
): LegacyBody {
  const { model_name: model = modelDefault, prompt = '', callback_url: callbackUrl } = body;
  return { model, prompt, callbackUrl, externalId: body.external_task_id, settle };
}

const omniVideoModels = ['kling-video-o1', 'kling-v3-omni'];
const videoModel = /^kling-v(?:1|1-5|1-6|2|2-master|2-1|2-1-master|2-5-turbo|2-6|3)$/;
const resolutions = { std: '720p', pro: '1080p', '4k': '4k' };

function settleVideo(
  body: VideoBody,
  { service, model }: { readonly service: string; readonly model: string },
  faults: FaultSet,
): KlingDetail {
  const isOmni = service === 'omni-video';
  if (isOmni ? !omniVideoModels.includes(model) : !videoModel.test(model)) throw klingProblems['not-found'];
  const mistake = findMistake(body, service, model);
  if (mistake !== undefined) throw badParameter(mistake);
  const { mode, duration, sound, aspect_ratio: ratio } = body;
  const shape = ratio ?? faults.text('ratio') ?? '16:9';
  const [width, height] = klingSize(resolutions[mode], shape, 'video');
  const seconds = Number(duration);
  const rate = (mode === 'std' ? 30 : mode === 'pro' ? 50 : 300) * (sound === 'on' ? 2 : 1);
  return {
    kind: 'video',
    path: `/v1/videos/${service}`,
    legacy: true,
    width,
    height,
    seconds,
    images: 0,
    charge: rate * seconds,
    externalId: body.external_task_id,
  };
}

function findMistake(body: VideoBody, service: string, model: string): string | undefined {
  const {
    duration,
    mode,
    sound,
    image,
    image_tail: tail,
    image_list: images = [],
    video_list: videos = [],
  } = body;
  const isThird = model.startsWith('kling-v3') || model === 'kling-video-o1';
  const isWhole = /^\d{1,2}$/.test(duration) && Number(duration) >= 3 && Number(duration) <= 15;
  if (!(isThird ? isWhole : duration === '5' || duration === '10'))
    return `duration is not supported: ${duration}`;
  if (mode === '4k' && !model.startsWith('kling-v3')) return 'mode is not supported: 4k';
  if (sound === 'on' && !/^kling-v(?:2-6|3)/.test(model)) return 'sound is not supported';
  if (service === 'text2video' && (body.prompt ?? '') === '') return 'prompt is required';
  if (service === 'text2video' && (image ?? tail) !== undefined) return 'image is not supported';
  if (service === 'image2video' && image === undefined) return 'image is required';
  if (service === 'image2video' && body.aspect_ratio !== undefined) return 'aspect_ratio is not supported';
  if (service === 'multi-image2video' && (images.length < 1 || images.length > 4))
    return 'image_list must have 1 to 4 images';
  if (service !== 'omni-video') return undefined;
  const isShaped = videos.length > 0 || images.some(({ type }) => type === 'first_frame');
  if (images.some(({ type }) => type === 'end_frame') && !images.some(({ type }) => type === 'first_frame'))
    return 'end_frame needs a first_frame';
  return body.aspect_ratio === undefined && !isShaped ? 'aspect_ratio is required' : undefined;
}

function settleImage(body: ImageBody, service: string, model: string): KlingDetail {
  const isOmni = service === 'omni-image';
  const known = isOmni ? /^kling-(?:image-o1|v3-omni)$/ : /^kling-v(?:3|2-1|2|1-5|1)$/;
  if (!known.test(model)) throw klingProblems['not-found'];
  const { image, negative_prompt: negative, resolution, aspect_ratio: ratio, n } = body;
  if (resolution === '4k' && !isOmni) throw badParameter('resolution is not supported: 4k');
  if (image !== undefined && negative !== undefined) throw badParameter('negative_prompt is not supported');
  const [width, height] = klingSize(resolution, ratio, 'image');
  const units = resolution === '4k' ? 16 : model === 'kling-v2-1' && image === undefined ? 4 : 8;
  return {
    kind: 'image',
    path: `/v1/images/${service}`,
    legacy: true,
    width,
    height,
    seconds: 0,
    images: n,
    charge: units * 100 * n,
    externalId: body.external_task_id,
  };
}
