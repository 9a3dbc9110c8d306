import { z } from 'zod';
import type { FaultSet } from '../fault.ts';
import { check, parseJson } from '../wire.ts';
import type { Mistake } from '../wire.ts';
import { invalidArgument, modelNotFound } from './xai-error.ts';
import type { XaiError } from './xai-error.ts';
import { shapeOfSide } from '../shape.ts';
import { videoRatios, xaiVideoModels } from './xai-models.ts';
import type { XaiVideoModel } from './xai-models.ts';

/** Creates of videos: closed objects, at three paths. */

export const picture = z
  .string()
  .regex(/^(?:https?:\/\/\S+|data:image\/[a-z]+;base64,[A-Za-z0-9+/]+=*)$/, 'must be a URL or a data URL');
const clip = z.strictObject({ url: z.string().regex(/^https?:\/\/\S+$/, 'must be a URL') });
const still = z.strictObject({ url: picture });
const common = { model: z.string(), prompt: z.string() };
/** Its spelling is not verified. */
const storage = z.looseObject({ filename: z.string().optional() }).optional();

const bodies = {
  generations: z.strictObject({
    ...common,
    duration: z.int().min(1).max(15).optional(),
    aspect_ratio: z.enum(videoRatios).optional(),
    resolution: z.enum(['480p', '720p', '1080p']).optional(),
    image: still.optional(),
    last_frame: still.optional(),
    keyframes: z
      .array(z.strictObject({ image: still, timestamp_s: z.number().nonnegative() }))
      .max(4)
      .optional(),
    reference_images: z.array(still).min(1).max(7).optional(),
    reference_audios: z.array(z.strictObject({ voice_id: z.string().min(1) })).optional(),
    generate_audio: z.boolean().optional(),
    storage_options: storage,
    user: z.string().optional(),
  }),
  edits: z.strictObject({ ...common, video: clip, storage_options: storage, user: z.string().optional() }),
  extensions: z.strictObject({ ...common, video: clip, duration: z.int().min(2).max(10).optional() }),
};
export type XaiOperation = keyof typeof bodies;
type Generation = z.infer<typeof bodies.generations>;

export const xaiDetail = z.object({
  width: z.number(),
  height: z.number(),
  /** Of the file. */
  seconds: z.number(),
  /** Thousandths of a dollar. */
  charge: z.number(),
});
export type XaiDetail = z.infer<typeof xaiDetail>;

export interface XaiOrder {
  readonly model: string;
  readonly prompt: string;
  /** @throws {XaiError} 400 */
  readonly settle: (model: string, faults: FaultSet) => XaiDetail;
}

export function refuse({ path, reason }: Mistake): XaiError {
  return invalidArgument(
    path === '' ? `Argument not supported on this model: ${reason}` : `${path}: ${reason}`,
  );
}

/** @throws {XaiError} 400 */
export function readXaiVideo(operation: XaiOperation, raw: Buffer): XaiOrder {
  const json = parseJson(raw);
  if (operation === 'generations') {
    const body = check(bodies.generations, json, refuse);
    return { ...body, settle: (model) => settleGeneration(body, known(model)) };
  }
  if (operation === 'edits') {
    const body = check(bodies.edits, json, refuse);
    return { ...body, settle: (model, faults) => settleEdit(known(model), faults) };
  }
  const body = check(bodies.extensions, json, refuse);
  return { ...body, settle: (model, faults) => settleExtension(body.duration ?? 6, known(model), faults) };
}

function known(name: string): XaiVideoModel {
  const model = xaiVideoModels[name];
  if (model === undefined) throw modelNotFound(name);
  return model;
}

function settleGeneration(body: Generation, model: XaiVideoModel): XaiDetail {
  const { duration: seconds = 8, resolution = '480p', aspect_ratio: ratio = '16:9' } = body;
  const mistake = findMistake(body, model);
  if (mistake !== undefined) throw invalidArgument(mistake);
  const rate = model.rates[resolution];
  if (rate === undefined) throw invalidArgument(`resolution is not supported: ${resolution}`);
  return { ...shapeOfSide(Number.parseInt(resolution, 10), ratio), seconds, charge: rate * seconds };
}

function findMistake(body: Generation, model: XaiVideoModel): string | undefined {
  const { image, last_frame: last, reference_images: references, reference_audios: voices } = body;
  const unsupported = (name: string) => `\`${name}\` is not supported for this model.`;
  if (last !== undefined && !model.lastFrame) return unsupported('last_frame');
  if (references !== undefined && !model.references) return unsupported('reference_images');
  if (voices !== undefined && !model.voices) return unsupported('reference_audios');
  if (image !== undefined && references !== undefined)
    return 'image and reference_images exclude each other.';
  if (last !== undefined && image === undefined) return 'last_frame needs an image.';
  if (voices !== undefined && references === undefined) return 'reference_audios need reference_images.';
  return references !== undefined && body.resolution === '1080p'
    ? '1080p is not supported with references.'
    : undefined;
}

const inputSecondsDefault = 5;
const editSecondsMax = 8.7;

/** As long as its input, and at most 720p. */
function settleEdit(model: XaiVideoModel, faults: FaultSet): XaiDetail {
  const seconds = faults.number('input-seconds') ?? inputSecondsDefault;
  if (seconds > editSecondsMax) throw invalidArgument(`The video is longer than ${editSecondsMax} seconds.`);
  return { ...shapeOfSide(720, '16:9'), seconds, charge: (model.rates['720p'] ?? 0) * seconds };
}

/** What was added is charged for. */
function settleExtension(added: number, model: XaiVideoModel, faults: FaultSet): XaiDetail {
  if (!model.extends) throw invalidArgument('The model does not extend videos.');
  const input = faults.number('input-seconds') ?? inputSecondsDefault;
  if (input < 2 || input > 15) throw invalidArgument('The video must last 2 to 15 seconds.');
  return {
    ...shapeOfSide(720, '16:9'),
    seconds: input + added,
    charge: (model.rates['720p'] ?? 0) * added,
  };
}
