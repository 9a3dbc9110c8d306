import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { check } from '../wire.ts';
import { notValid } from './bfl-error.ts';
import { areaSize } from './bfl-models.ts';
import type { BflDetail, BflImageModel } from './bfl-models.ts';

/** Requests of FLUX.2 and older: fields that a model does not have are passed over. */

const megapixel = 1024 * 1024;
const webhookCharactersMax = 2083;

/** An address, or base64 without the head of a data URL. */
export const bareMedia = z
  .string()
  .min(1)
  .regex(/^(?:https?:\/\/\S+|[A-Za-z0-9+/=\s]+)$/, 'Invalid image: expected a URL or a base64 string');

const bodySchema = z.looseObject({
  prompt: z.string(),
  width: z.int().optional(),
  height: z.int().optional(),
  aspect_ratio: z
    .string()
    .regex(/^\d{1,2}:\d{1,2}$/)
    .refine(isBetweenExtremes, 'Aspect ratio must be between 21:9 and 9:21')
    .nullish(),
  seed: z.int().nullish(),
  steps: z.int().min(1).max(50).optional(),
  guidance: z.number().min(1.5).max(10).optional(),
  image_prompt: bareMedia.nullish(),
  image_prompt_strength: z.number().min(0).max(1).optional(),
  raw: z.boolean().optional(),
  image: bareMedia.optional(),
  mask: bareMedia.nullish(),
  prompt_upsampling: z.boolean().optional(),
  safety_tolerance: z.int().min(0).max(6).optional(),
  output_format: z.enum(['jpeg', 'png']).nullish(),
  webhook_url: z.url().max(webhookCharactersMax).nullish(),
  webhook_secret: z.string().nullish(),
});
type Body = z.infer<typeof bodySchema>;

function isBetweenExtremes(ratio: string): boolean {
  const [wide = 0, high = 0] = ratio.split(':').map(Number);
  return wide * 21 >= high * 9 && high * 21 >= wide * 9;
}

/** What is rendered, and where the news goes. @throws {BflError} 422 */
export function settleBflImage(
  raw: unknown,
  model: BflImageModel,
): { detail: BflDetail; callbackUrl: string | undefined } {
  const body = check(bodySchema, raw, notValid);
  const inputs = inputImages(body, model);
  if (body.safety_tolerance !== undefined && body.safety_tolerance > model.toleranceMax)
    throw wrong('safety_tolerance', `Input should be less than or equal to ${model.toleranceMax}`);
  if (model.needsImage && body.image === undefined) throw absent('image');
  const size = sizeOf(body, model);
  const { pixels } = size;
  const megapixels = Math.round((pixels / megapixel + inputs) * 100) / 100;
  const [first, further] = model.price;
  return {
    callbackUrl: body.webhook_url ?? undefined,
    detail: {
      kind: 'image',
      third: false,
      width: size.width,
      height: size.height,
      seconds: 0,
      format: body.output_format ?? 'jpeg',
      seed: body.seed ?? randomInt(2 ** 32),
      cost: first + further * Math.max(0, Math.round(megapixels) - 1),
      // The size is that of the image that came.
      pricedLater: size.isOpen && inputs > 0,
      inputMegapixels: inputs,
      draft: false,
      webhook:
        typeof body.webhook_url === 'string' ? { secret: body.webhook_secret ?? undefined } : undefined,
    },
  };
}

/** Every input counts as a megapixel. */
function inputImages(body: Body, { inputsMax }: BflImageModel): number {
  let count = 0;
  for (const [name, value] of Object.entries(body)) {
    const match = /^input_image(?:_(\d{1,2}))?$/.exec(name);
    if (match === null || value === null || Number(match[1] ?? 1) > inputsMax) continue;
    if (!bareMedia.safeParse(value).success) throw wrong(name, 'Invalid image');
    count += 1;
  }
  return count;
}

function sizeOf({ width = 0, height = 0, aspect_ratio: ratio }: Body, model: BflImageModel) {
  const { side, pixelsMax } = model;
  if (side === undefined) {
    const size = areaSize(megapixel, ratio ?? '1:1');
    return { ...size, pixels: size.width * size.height, isOpen: typeof ratio !== 'string' };
  }
  for (const [name, value] of [['width', width] as const, ['height', height] as const]) {
    if (value === 0) continue;
    const { min, max, step } = side;
    if (value < min || value > max) throw wrong(name, `Input should be between ${min} and ${max}`);
    if (value % step !== 0) throw wrong(name, `Input should be a multiple of ${step}`);
  }
  const settled = { width: width === 0 ? 1024 : width, height: height === 0 ? 1024 : height };
  const pixels = settled.width * settled.height;
  if (pixels > pixelsMax) throw wrong('width', 'The image must have at most 4 megapixels');
  return { ...settled, pixels, isOpen: width === 0 || height === 0 };
}

export function wrong(path: string, reason: string) {
  return notValid({ field: path, path, reason, isAbsent: false });
}

export function absent(path: string) {
  return notValid({ field: path, path, reason: '', isAbsent: true });
}
