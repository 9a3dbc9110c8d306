import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { areaOf, check, json, linesOf, link, refusals, sizeOf, taken } from '../engine.ts';
import type { FaultSet, Mistake, Rendered } from '../engine.ts';

export const refuseBfl = refusals(({ status, code: type, message: msg, param }) => {
  if (type === '') return json(status, { detail: msg });
  if (status === 429) return json(status, { error: type, retry_after: 5 });
  const loc = ['body', ...param.split('.').filter((part) => part !== '')];
  return json(status, { detail: [{ type, loc, msg }] });
});
const extraField = 'Extra inputs are not permitted';
export const notValid = ({ path, reason, isAbsent }: Pick<Mistake, 'path' | 'reason' | 'isAbsent'>) =>
  isAbsent
    ? refuseBfl(422, 'missing', 'Field required', path)
    : refuseBfl(422, reason === extraField ? 'extra_forbidden' : 'value_error', reason, path);
export const noSuchModel = refuseBfl(404, '', 'Not Found');

export interface BflDetail extends Rendered {
  /** True for FLUX 3, which has its own status word for a running job and links that live longer. */
  readonly third: boolean;
  readonly format: 'png' | 'jpeg';
  readonly seed?: number;
  readonly cost: number;
  readonly pricedLater: boolean;
  readonly inputMegapixels: number;
  readonly webhook?: { readonly secret: string | undefined } | undefined;
}

const imageCost = 300;
const megapixelCost = 150;
const secondCosts: Readonly<Record<string, number>> = { hd: 1700, fhd: 2900, qhd: 5000, uhd: 9000 };
const draftCost = 600;
const continuedCost = 2400;

/** Either a URL, or base64 without a data-URL prefix. */
const media = z
  .string()
  .regex(/^(?:https?:\/\/\S+|[A-Za-z0-9+/=\s]+)$/, 'Invalid image: expected a URL or a base64 string');
const forbidden = z.undefined({ error: extraField });
const side = z.int().min(0).default(0);

const olderSchema = z.looseObject({
  ...taken({ number: 'steps guidance', flag: 'raw prompt_upsampling', int: 'safety_tolerance' }),
  prompt: z.string(),
  width: side,
  height: side,
  aspect_ratio: z.string().regex(/^\d{1,2}:\d{1,2}$/).nullish(),
  seed: z.int().nullish(),
  image_prompt: media.nullish(),
  image: media.optional(),
  mask: media.nullish(),
  output_format: z.enum(['jpeg', 'png']).nullish(),
  webhook_url: link.nullish(),
  webhook_secret: z.string().nullish(),
  input_image: media.nullish(),
}); // prettier-ignore
const imageSchema = z
  .object({
    ...taken({ flag: 'grounding', int: 'safety_tolerance', text: 'version' }),
    prompt: z.string().min(1),
    images: z.array(media).min(1).default([]),
    aspect_ratio: z.string().default('auto'),
    resolution: z.enum(['768sq', '1k', '1.5k', '2k', '4k']).default('1k'),
  })
  .catchall(forbidden);
const videoSchema = z
  .object({
    ...taken({ flag: 'generate_audio', int: 'safety_tolerance', text: 'user version' }),
    mode: z.enum(['t2v', 'i2v', 'v2v', 'text-to-video', 'image-continuation', 'video-continuation']),
    prompt: z.string().min(1),
    duration: z.union([z.int().min(1), z.literal('auto')]).default('auto'),
    aspect_ratio: z.string().default('auto'),
    resolution: z.enum(Object.keys(secondCosts)).default('hd'),
    draft: z.boolean().default(false),
    keyframes: z
      .union([media, z.array(media).min(1), z.array(z.tuple([z.number().min(0), media])).min(1)])
      .optional(),
    start_video: media.optional(),
  })
  .catchall(forbidden);

interface BflOrder {
  readonly detail: BflDetail;
  readonly callbackUrl?: string | null | undefined;
}

const third = { third: true, format: 'png', inputMegapixels: 0 } as const;

/** @throws {WireError} 422, or 404 if the model does not exist. */
export function settleBfl(raw: unknown, model: string, faults: FaultSet): BflOrder {
  if (model === 'flux-3-video') return { detail: settleVideo(raw, faults) };
  if (/^flux-3-image(?:-klein)?$/.test(model)) return { detail: settleImage(raw, faults) };
  if (!/^flux-(?:2-|kontext-|pro-|dev)/.test(model)) throw noSuchModel;
  return settleOlder(raw);
}

function settleOlder(raw: unknown): BflOrder {
  const body = check(olderSchema, raw, notValid);
  const { aspect_ratio: ratio, webhook_url: callbackUrl, webhook_secret: secret } = body;
  const inputMegapixels = Object.entries(body).filter(
    ([name, value]) => /^input_image(?:_\d)?$/.test(name) && value !== null,
  ).length;
  const pixels = { width: body.width || 1024, height: body.height || 1024 };
  const { width, height } = typeof ratio === 'string' ? areaOf(1024, ratio, 16) : pixels;
  const megapixels = Math.round((width * height) / 1024 ** 2 + inputMegapixels);
  const isOpen = typeof ratio !== 'string' && (body.width === 0 || body.height === 0);
  const detail: BflDetail = {
    width,
    height,
    seconds: 0,
    images: 1,
    third: false,
    inputMegapixels,
    format: body.output_format ?? 'jpeg',
    seed: body.seed ?? randomInt(2 ** 32),
    cost: imageCost + megapixelCost * Math.max(0, megapixels - 1),
    pricedLater: isOpen && inputMegapixels > 0,
    webhook: typeof callbackUrl === 'string' ? { secret: secret ?? undefined } : undefined,
  };
  return { detail, callbackUrl };
}

function settleImage(raw: unknown, faults: FaultSet): BflDetail {
  const { images: given, resolution, aspect_ratio } = check(imageSchema, raw, notValid);
  const square = resolution === '768sq' ? 768 : Number(resolution.slice(0, -1)) * 1024;
  const isAutomatic = aspect_ratio === 'auto';
  const size = areaOf(square, isAutomatic ? (faults.text('ratio') ?? '1:1') : aspect_ratio, 16);
  const pricedLater = isAutomatic && given.length > 0;
  return {
    ...third,
    ...size,
    seconds: 0,
    images: 1,
    cost: imageCost,
    pricedLater,
    inputMegapixels: given.length,
  };
}

function settleVideo(raw: unknown, faults: FaultSet): BflDetail {
  const { mode, duration, aspect_ratio, resolution, draft } = check(videoSchema, raw, notValid);
  const seconds = duration === 'auto' ? (faults.number('duration') ?? 8) : duration;
  const ratio = aspect_ratio === 'auto' ? (faults.text('ratio') ?? '16:9') : aspect_ratio;
  const rate = draft ? draftCost : (secondCosts[resolution] ?? 0);
  const cost = (rate + (mode.startsWith('v') ? continuedCost : 0)) * seconds;
  return { ...third, ...sizeOf(linesOf(resolution), ratio), seconds, cost, pricedLater: duration === 'auto' };
}
