import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Desk, Submission } from '../desk.ts';
import type { Call } from '../dialect.ts';
import { shapeOfSquare } from '../shape.ts';
import { check, json, parseJson } from '../wire.ts';
import type { Reply } from '../wire.ts';
import { invalidArgument, modelNotFound } from './xai-error.ts';
import { imageRatios, inputImageRate, ticksPerThousandth, xaiImageModels } from './xai-models.ts';
import { picture, refuse } from './xai-request.ts';

/** Images at once. */

const source = z.strictObject({ url: picture, type: z.literal('image_url') });
const fields = {
  model: z.string(),
  prompt: z.string().min(1),
  n: z.int().min(1).max(10).default(1),
  aspect_ratio: z.enum(imageRatios).default('auto'),
  resolution: z.enum(['1k', '2k']).default('1k'),
  quality: z.enum(['low', 'medium']).optional(),
  response_format: z.enum(['url', 'b64_json']).default('url'),
  output_format: z.string().optional(),
  sync_mode: z.boolean().optional(),
  user: z.string().optional(),
};
const generationSchema = z.strictObject(fields);
const editSchema = z.strictObject({
  ...fields,
  image: source.optional(),
  images: z.array(source).min(1).max(5).optional(),
});
type Edit = z.infer<typeof editSchema>;

export function paintXai(desk: Desk, { request }: Call, edits: boolean): Promise<Reply> {
  const asked = parseJson(request.body);
  const body: Edit = edits ? check(editSchema, asked, refuse) : check(generationSchema, asked, refuse);
  if (edits && (body.image === undefined) === (body.images === undefined))
    throw invalidArgument('Exactly one of image and images is required.');
  return desk.create(request, body, (submission) => generate(desk, body, submission));
}

async function generate(desk: Desk, body: Edit, submission: Submission): Promise<Reply> {
  const { world } = desk;
  const { faults, model } = submission;
  const rate = rateOf(body, model);
  await world.paint(faults);
  const refused = faults.has('item-moderation') ? (faults.number('item-moderation') ?? 0) : -1;
  const isRefused = (index: number) => faults.has('moderation-in-task') || index === refused;
  const owner = { id: randomUUID(), faults: faults.sources() };
  const size = shapeOfSquare(body.resolution === '2k' ? 2048 : 1024, body.aspect_ratio);
  const indexes = Array.from({ length: body.n }, (_, index) => index);
  const data = indexes.map((tint) => {
    if (isRefused(tint)) return { url: '', revised_prompt: '', respect_moderation: false };
    const medium = world.image(size, { format: 'jpeg', tint, marked: false }, faults);
    const file =
      body.response_format === 'b64_json'
        ? { b64_json: world.renderBase64(medium) }
        : { url: world.link(owner, medium, world.now()) };
    return { ...(faults.has('missing-url') ? {} : file), revised_prompt: '', respect_moderation: true };
  });
  desk.countCreate(submission);
  const inputs = [body.image ?? body.images ?? []].flat().length;
  const made = indexes.filter((index) => !isRefused(index)).length;
  const charge = made === 0 ? 0 : made * rate + inputs * inputImageRate;
  const ticks = Math.round(charge * ticksPerThousandth * faults.usageFactor());
  return json(200, {
    created: Math.floor(world.now() / 1000),
    data,
    ...(faults.has('missing-usage') ? {} : { usage: { cost_in_usd_ticks: ticks } }),
  });
}

function rateOf({ quality, resolution }: Edit, name: string): number {
  const model = xaiImageModels[name];
  if (model === undefined) throw modelNotFound(name);
  const rate =
    model[`${resolution} ${quality ?? 'medium'}`] ?? (quality === undefined ? model[resolution] : undefined);
  if (rate === undefined) throw invalidArgument('Argument not supported on this model: quality');
  return rate;
}
