import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { Problems } from '../desk.ts';
import type { FaultSet } from '../fault.ts';
import { rendered } from '../job.ts';
import { areaOf, linesOf, sizeOf } from '../sizes.ts';
import { check, json, refusals } from '../wire.ts';
import type { Mistake } from '../wire.ts';

/** Most errors are `{"detail":…}`; a mistake says where (`param`) and of which kind. */
const refuse = refusals(({ status, code: type, message: msg, param }) => {
  if (type === '') return json(status, { detail: msg });
  const loc = ['body', ...param.split('.').filter((part) => part !== '')];
  return json(status, { detail: [{ type, loc, msg }] });
});
/** What a strict schema says of a field that it does not have. */
const extraField = 'Extra inputs are not permitted';
export const notValid = ({ path, reason, isAbsent }: Pick<Mistake, 'path' | 'reason' | 'isAbsent'>) =>
  isAbsent
    ? refuse(422, 'missing', 'Field required', path)
    : refuse(422, reason === extraField ? 'extra_forbidden' : 'value_error', reason, path);
export const noSuchBflRoute = refuse(404, '', 'Not Found');
/** The account's jobs in flight are as many as it may have. */
export const tooManyTasks = refuse(429, '', 'Too many active tasks');
const tooFast = refusals(() => json(429, { error: 'rate_limit_exceeded', retry_after: 5 }));

/** No `moderated`: the content is inspected when the job runs. */
export const bflProblems = {
  unauthorized: refuse(401, '', 'Not authenticated'),
  forbidden: refuse(403, '', 'Not authenticated - no access to this endpoint'),
  'not-found': noSuchBflRoute,
  'rate-limited': tooFast(429, '', 'too fast'),
  'quota-exhausted': refuse(402, '', 'Insufficient credits. Please add credits to continue.'),
  internal: refuse(500, '', 'Internal Server Error'),
  unavailable: refuse(503, '', 'The service is under maintenance. Please try again later.'),
} satisfies Problems;

export const bflDetail = z.object({
  ...rendered,
  /** FLUX 3: another word while it runs, links that live longer. */
  third: z.boolean(),
  format: z.enum(['png', 'jpeg']),
  seed: z.number().optional(),
  /** Hundredths of a credit. */
  cost: z.number(),
  /** The create does not know the price yet: it depends on what is rendered. */
  pricedLater: z.boolean(),
  inputMegapixels: z.number(),
  webhook: z.object({ secret: z.string().optional() }).optional(),
});
export type BflDetail = z.infer<typeof bflDetail>;

/** Hundredths of a credit: of an image, of each further megapixel, and of a second by resolution. */
const imageCost = 300;
const megapixelCost = 150;
const secondCosts: Readonly<Record<string, number>> = { hd: 1700, fhd: 2900, qhd: 5000, uhd: 9000 };
const draftCost = 600;
/** On top, of a second that continues a video. */
const continuedCost = 2400;

/** An address, or base64 without the head of a data URL. */
const media = z
  .string()
  .regex(/^(?:https?:\/\/\S+|[A-Za-z0-9+/=\s]+)$/, 'Invalid image: expected a URL or a base64 string');
const forbidden = z.undefined({ error: extraField });
const tolerance = z.int().min(0).max(6).optional();

/** FLUX.2 and older: fields that a model does not have are passed over. */
const olderSchema = z.looseObject({
  prompt: z.string(),
  width: z.int().min(0).max(8192).default(0),
  height: z.int().min(0).max(8192).default(0),
  aspect_ratio: z.string().regex(/^\d{1,2}:\d{1,2}$/).nullish(),
  seed: z.int().nullish(),
  steps: z.int().min(1).max(50).optional(),
  guidance: z.number().min(1.5).max(10).optional(),
  image_prompt: media.nullish(),
  raw: z.boolean().optional(),
  image: media.optional(),
  mask: media.nullish(),
  prompt_upsampling: z.boolean().optional(),
  safety_tolerance: tolerance,
  output_format: z.enum(['jpeg', 'png']).nullish(),
  webhook_url: z.url().max(2083).nullish(),
  webhook_secret: z.string().nullish(),
  input_image: media.nullish(),
}); // prettier-ignore
/** FLUX 3: a field that the schema does not have is an error. */
const imageSchema = z
  .object({
    prompt: z.string().min(1),
    images: z.array(media).min(1).default([]),
    aspect_ratio: z.string().regex(/^(?:auto|\d{1,2}:\d{1,2})$/).default('auto'),
    resolution: z.enum(['768sq', '1k', '1.5k', '2k', '4k']).default('1k'),
    grounding: z.boolean().optional(),
    safety_tolerance: tolerance,
    version: z.string().optional(),
  })
  .catchall(forbidden); // prettier-ignore
const modes = ['t2v', 'i2v', 'v2v', 'text-to-video', 'image-continuation', 'video-continuation'];
const videoSchema = z
  .object({
    mode: z.enum(modes),
    prompt: z.string().min(1),
    duration: z.union([z.int().min(1).max(60), z.literal('auto')]).default('auto'),
    aspect_ratio: z.enum(['auto', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16']).default('auto'),
    resolution: z.enum(Object.keys(secondCosts)).default('hd'),
    generate_audio: z.boolean().optional(),
    draft: z.boolean().default(false),
    version: z.literal('latest').optional(),
    keyframes: z
      .union([media, z.array(media).min(1), z.array(z.tuple([z.number().min(0), media])).min(1)])
      .optional(),
    start_video: media.optional(),
    safety_tolerance: tolerance,
    user: z.string().min(1).max(256).optional(),
  })
  .catchall(forbidden);

export interface BflOrder {
  readonly detail: BflDetail;
  readonly callbackUrl?: string | undefined;
}

const third = { third: true, format: 'png', inputMegapixels: 0 } as const;

/** @throws {WireError} 422, or 404 for a model that does not exist. */
export function settleBfl(raw: unknown, model: string, faults: FaultSet): BflOrder {
  if (model === 'flux-3-video') return { detail: settleVideo(raw, faults) };
  if (model === 'flux-3-image') return { detail: settleImage(raw, faults) };
  if (!/^flux-(?:2-|kontext-|pro-|dev)/.test(model)) throw noSuchBflRoute;
  return settleOlder(raw);
}

function settleOlder(raw: unknown): BflOrder {
  const body = check(olderSchema, raw, notValid);
  const { aspect_ratio: ratio, webhook_url: callbackUrl, webhook_secret: secret } = body;
  // Every input counts as a megapixel.
  const given = Object.entries(body).filter(
    ([name, value]) => /^input_image(?:_\d)?$/.test(name) && value !== null,
  );
  const { width = 1024, height = 1024 } =
    typeof ratio === 'string'
      ? areaOf(1024, ratio, 16)
      : { width: body.width || 1024, height: body.height || 1024 };
  const megapixels = Math.round((width * height) / 1024 ** 2 + given.length);
  // The size is that of the image that came.
  const isOpen = typeof ratio !== 'string' && (body.width === 0 || body.height === 0);
  const detail: BflDetail = {
    width,
    height,
    seconds: 0,
    images: 1,
    third: false,
    format: body.output_format ?? 'jpeg',
    seed: body.seed ?? randomInt(2 ** 32),
    cost: imageCost + megapixelCost * Math.max(0, megapixels - 1),
    pricedLater: isOpen && given.length > 0,
    inputMegapixels: given.length,
    webhook: typeof callbackUrl === 'string' ? { secret: secret ?? undefined } : undefined,
  };
  return { detail, callbackUrl: callbackUrl ?? undefined };
}

function settleImage(raw: unknown, faults: FaultSet): BflDetail {
  const { images, resolution, aspect_ratio } = check(imageSchema, raw, notValid);
  const side = resolution === '768sq' ? 768 : Number(resolution.slice(0, -1)) * 1024;
  const isAutomatic = aspect_ratio === 'auto';
  const size = areaOf(side, isAutomatic ? (faults.text('ratio') ?? '1:1') : aspect_ratio, 16);
  const pricedLater = isAutomatic && images.length > 0;
  return {
    ...third,
    ...size,
    seconds: 0,
    images: 1,
    cost: imageCost,
    pricedLater,
    inputMegapixels: images.length,
  };
}

function settleVideo(raw: unknown, faults: FaultSet): BflDetail {
  const body = check(videoSchema, raw, notValid);
  const { mode, duration, aspect_ratio, resolution, draft } = body;
  const seconds = duration === 'auto' ? (faults.number('duration') ?? 8) : duration;
  const ratio = aspect_ratio === 'auto' ? (faults.text('ratio') ?? '16:9') : aspect_ratio;
  const rate = draft ? draftCost : (secondCosts[resolution] ?? 0);
  const isContinued = mode.startsWith('v');
  return {
    ...third,
    ...sizeOf(linesOf(resolution), ratio),
    seconds,
    images: 0,
    cost: (rate + (isContinued ? continuedCost : 0)) * seconds,
    pricedLater: duration === 'auto',
  };
}
