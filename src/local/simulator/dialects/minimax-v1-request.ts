import { z } from 'zod';
import type { FaultSet } from '../fault.ts';
import { check, parseJson } from '../wire.ts';
import { invalidHailuo } from './minimax-error.ts';
import { hailuoModels, imageRatios, miniMaxSize } from './minimax-models.ts';
import type { HailuoModel } from './minimax-models.ts';

/** Creates of v1: Hailuo videos and image-01. */

const promptMax = 2000;
const chosenRatio = '16:9';

const picture = z
  .string()
  .regex(/^(?:https?:\/\/\S+|data:image\/[a-z]+;base64,[A-Za-z0-9+/]+=*)$/, 'must be a url or a data URL');

const videoSchema = z.strictObject({
  model: z.string(),
  prompt: z.string().max(promptMax).default(''),
  duration: z.int().optional(),
  resolution: z.string().optional(),
  prompt_optimizer: z.boolean().optional(),
  fast_pretreatment: z.boolean().optional(),
  first_frame_image: picture.optional(),
  last_frame_image: picture.optional(),
  subject_reference: z
    .array(z.strictObject({ type: z.literal('character'), image: z.array(picture).length(1) }))
    .length(1)
    .optional(),
  callback_url: z.url().optional(),
  aigc_watermark: z.boolean().optional(),
});

export type HailuoBody = z.infer<typeof videoSchema>;

export const hailuoDetail = z.object({
  width: z.number(),
  height: z.number(),
  seconds: z.number(),
  /** Of the file, which has an id of its own. */
  fileId: z.string(),
});
export type HailuoDetail = z.infer<typeof hailuoDetail>;

const refuse = ({ path, reason }: { path: string; reason: string }) => invalidHailuo(`${path}: ${reason}`);

/** @throws {HailuoError} 2013 */
export function readHailuoBody(raw: Buffer): HailuoBody {
  return check(videoSchema, parseJson(raw), refuse);
}

/** @throws {HailuoError} 2013 */
export function settleHailuo(
  body: HailuoBody,
  { name, fileId, faults }: { readonly name: string; readonly fileId: string; readonly faults: FaultSet },
): HailuoDetail {
  const model = hailuoModels[name];
  if (model === undefined) throw invalidHailuo(`unknown model: ${name}`);
  const mistake = findInputMistake(body, model) ?? findOutputMistake(body, model);
  if (mistake !== undefined) throw invalidHailuo(mistake);
  const resolution = body.resolution ?? (model.resolutions.includes('768P') ? '768P' : '720P');
  const [width, height] = miniMaxSize(resolution, faults.text('ratio') ?? chosenRatio);
  return { width, height, seconds: body.duration ?? 6, fileId };
}

function findInputMistake(body: HailuoBody, model: HailuoModel): string | undefined {
  const { first_frame_image: first, last_frame_image: last, subject_reference: subject } = body;
  if (first === undefined && last === undefined && body.prompt === '') return 'prompt is required';
  if (model.firstFrame === 'always' && first === undefined) return 'first_frame_image is required';
  if (model.firstFrame === 'never' && first !== undefined) return 'first_frame_image is not supported';
  if (last !== undefined && !model.lastFrame) return 'last_frame_image is not supported';
  if ((subject !== undefined) !== model.subject)
    return model.subject ? 'subject_reference is required' : 'subject_reference is not supported';
  return body.fast_pretreatment !== undefined && !model.pretreatment
    ? 'fast_pretreatment is not supported'
    : undefined;
}

function findOutputMistake(body: HailuoBody, model: HailuoModel): string | undefined {
  const { duration, resolution, first_frame_image: first, last_frame_image: last } = body;
  if (duration !== undefined && !model.seconds.includes(duration)) return 'duration is not supported';
  if (resolution === undefined) return undefined;
  if (!model.resolutions.includes(resolution)) return 'resolution is not supported';
  if (resolution === '1080P' && duration === 10) return '1080P lasts 6 seconds';
  return resolution === '512P' && first === undefined && last === undefined
    ? '512P needs an image'
    : undefined;
}

const side = z.int().min(512).max(2048).multipleOf(8).optional();

const imageSchema = z.strictObject({
  model: z.enum(['image-01', 'image-01-live']),
  prompt: z.string().min(1).max(1500),
  aspect_ratio: z.enum(imageRatios).optional(),
  width: side,
  height: side,
  n: z.int().min(1).max(9).default(1),
  seed: z.int().optional(),
  response_format: z.enum(['url', 'base64']).default('url'),
  prompt_optimizer: z.boolean().optional(),
  aigc_watermark: z.boolean().default(false),
  subject_reference: z
    .array(z.strictObject({ type: z.literal('character'), image_file: picture }))
    .length(1)
    .optional(),
});
export type HailuoImageBody = z.infer<typeof imageSchema>;

/** What names faults and the model, before anything is refused. */
export const imageAskedSchema = z.object({ model: z.string(), prompt: z.string() });

/** `model` is the one that was asked for, without faults. @throws {HailuoError} 2013 */
export function readHailuoImage(body: unknown, model: string): HailuoImageBody {
  const known = check(imageSchema, { ...z.looseObject({}).parse(body), model }, refuse);
  if ((known.width === undefined) !== (known.height === undefined))
    throw invalidHailuo('width and height go together');
  return known;
}
