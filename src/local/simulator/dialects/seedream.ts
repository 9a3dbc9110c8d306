import { z } from 'zod';
import { Desk } from '../desk.ts';
import type { Submission } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Dialect } from '../dialect.ts';
import type { FaultSet } from '../fault.ts';
import type { Medium } from '../media/medium.ts';
import { check, eventStream, json, parseJson } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import {
  ArkError,
  arkProblems,
  arkRequestId,
  invalid,
  missing,
  modelNotFound,
  noArkRoute,
} from './ark-error.ts';
import { readModelName } from './ark-request.ts';
import { findSeedreamModel, readSize } from './seedream-models.ts';
import type { PixelSize, SeedreamModel } from './seedream-models.ts';

const imagesMax = 15;
const referencesMax = 14;
const pixelsPerToken = 256;

const fieldsSchema = z.object({
  prompt: z.string().min(1),
  image: z.union([z.string(), z.array(z.string())]).optional(),
  size: z.string().optional(),
  seed: z.int().min(-1).max(2_147_483_647).optional(),
  guidance_scale: z.number().min(1).max(10).optional(),
  response_format: z.enum(['url', 'b64_json']).default('url'),
  output_format: z.enum(['jpeg', 'png']).optional(),
  watermark: z.boolean().default(true),
  sequential_image_generation: z.enum(['disabled', 'auto']).default('disabled'),
  sequential_image_generation_options: z
    .object({ max_images: z.int().min(1).max(imagesMax).optional() })
    .optional(),
  stream: z.boolean().default(false),
  background: z.enum(['auto', 'transparent', 'opaque']).optional(),
  optimize_prompt_options: z
    .object({
      mode: z.enum(['standard', 'fast']).optional(),
      thinking: z.enum(['auto', 'enabled', 'disabled']).optional(),
    })
    .optional(),
  tools: z.array(z.object({ type: z.string() })).optional(),
});
type Fields = z.infer<typeof fieldsSchema>;

/** Volcengine Ark: synchronous images. */
export function createSeedreamDialect(world: World): Dialect {
  const desk = new Desk(world, 'seedream', arkProblems);
  return createDialect(desk, {
    prefix: '/ark/api/v3/images',
    noSuchRoute: noArkRoute,
    routes: {
      'POST /generations'({ request }) {
        const body = parseJson(request.body);
        const { prompt } = z.object({ prompt: z.string() }).safeParse(body).data ?? { prompt: '' };
        return desk.create(request, { model: readModelName(body), prompt }, (submission) =>
          generate(desk, body, submission),
        );
      },
    },
  });
}

async function generate(desk: Desk, body: unknown, submission: Submission): Promise<Reply> {
  const { world } = desk;
  const { model: asked, faults } = submission;
  const found = findSeedreamModel(asked);
  if (found === undefined) throw modelNotFound(asked);
  const fields = readFields(body, found.model);
  const size = readSize(fields.size, found.model);
  const items = draw(world, fields, size, faults);
  await world.paint(faults);
  // Nothing came out: one error for the whole request, as if it had been alone.
  const [first] = items;
  if (first !== undefined && items.every((item) => 'failure' in item) && 'failure' in first)
    throw first.failure;
  desk.countCreate(submission);
  const created = Math.floor(world.now() / 1000);
  const data = items.map((item) => present(world, fields, faults, item));
  const usage = usageOf(fields, items, faults);
  if (fields.stream) return stream(found.name, created, data, usage);
  return json(200, { model: found.name, created, data, ...(faults.has('missing-usage') ? {} : { usage }) });
}

function readFields(body: unknown, model: SeedreamModel): Fields {
  const fields = check(fieldsSchema, body, ({ field, reason, isAbsent }) =>
    isAbsent ? missing(field) : invalid(field, reason),
  );
  const references = [fields.image ?? []].flat();
  if (references.length > model.referencesMax) {
    throw invalid('image', `at most ${model.referencesMax} are supported by the model`);
  }
  if (references.length < model.referencesMin) throw missing('image');
  if (!references.every(isImage)) throw invalid('image', 'not a URL or data URL of an image');
  const unsupported: readonly (readonly [field: keyof Fields, isSet: boolean])[] = [
    ['seed', fields.seed !== undefined && !model.third],
    ['guidance_scale', fields.guidance_scale !== undefined && !model.third],
    ['output_format', fields.output_format !== undefined && !model.outputFormat],
    ['sequential_image_generation', fields.sequential_image_generation === 'auto' && model.third],
    ['stream', fields.stream && model.third],
    ['optimize_prompt_options', fields.optimize_prompt_options !== undefined && model.third],
    ['tools', fields.tools !== undefined && (!model.outputFormat || model.single)],
    ['background', fields.background !== undefined && !model.background],
  ];
  for (const field of ['sequential_image_generation', 'stream'] as const) {
    if (model.single && typeof body === 'object' && body !== null && field in body)
      throw invalid(field, 'not supported by the model');
  }
  for (const [field, isSet] of unsupported) if (isSet) throw invalid(field, 'not supported by the model');
  return fields;
}

function isImage(reference: string): boolean {
  return (
    /^https?:\/\/./.test(reference) || /^data:image\/[a-z]+;base64,[A-Za-z0-9+/]/.test(reference.slice(0, 64))
  );
}

type Item = { readonly medium: Medium } | { readonly failure: ArkError };

/** One image, or up to `max_images` of a group: a moderated one is skipped, an internal error ends the group. */
function draw(world: World, fields: Fields, size: PixelSize, faults: FaultSet): Item[] {
  const references = [fields.image ?? []].flat().length;
  const wanted =
    fields.sequential_image_generation === 'auto'
      ? (faults.number('images') ?? fields.sequential_image_generation_options?.max_images ?? 1)
      : 1;
  const count = Math.max(1, Math.min(wanted, imagesMax - Math.min(references, referencesMax)));
  const moderated = faults.has('item-moderation') ? (faults.number('item-moderation') ?? 0) : -1;
  const broken = faults.has('item-error') ? (faults.number('item-error') ?? 0) : -1;
  const items: Item[] = [];
  for (let index = 0; index < count; index += 1) {
    if (index === broken) return [...items, { failure: arkProblems.internal }];
    const look = { format: fields.output_format ?? ('jpeg' as const), tint: index, marked: fields.watermark };
    items.push(
      index === moderated ? { failure: outputModerated } : { medium: world.image(size, look, faults) },
    );
  }
  return items;
}

const outputModerated = new ArkError(
  400,
  'OutputImageSensitiveContentDetected',
  'The request failed because the output image may contain sensitive information.',
);

function present(world: World, fields: Fields, faults: FaultSet, item: Item): Record<string, unknown> {
  if ('failure' in item) {
    const { code, message } = item.failure;
    return { error: { code, message: `${message} Request id: ${arkRequestId(world.now())}` } };
  }
  const { medium } = item;
  const size = `${medium.width}x${medium.height}`;
  if (fields.response_format === 'b64_json') {
    return { b64_json: world.renderBase64(medium), size };
  }
  const owner = { id: arkRequestId(world.now()), faults: faults.sources() };
  return { url: world.link(owner, medium, world.now()), size };
}

function usageOf(fields: Fields, items: readonly Item[], faults: FaultSet): Record<string, number> {
  let images = 0;
  let pixels = 0;
  for (const item of items) {
    if (!('medium' in item)) continue;
    images += 1;
    pixels += item.medium.width * item.medium.height;
  }
  const tokens = Math.floor((pixels / pixelsPerToken) * faults.usageFactor());
  const references = [fields.image ?? []].flat().length;
  return {
    generated_images: images,
    output_tokens: tokens,
    total_tokens: tokens,
    ...(references > 0 ? { input_images: references } : {}),
  };
}

function stream(
  model: string,
  created: number,
  data: readonly Record<string, unknown>[],
  usage: Record<string, number>,
): Reply {
  const parts = data.map((item, image_index) => {
    const type = `image_generation.partial_${'error' in item ? 'failed' : 'succeeded'}`;
    return { name: type, data: { type, model, created, image_index, ...item } };
  });
  const type = 'image_generation.completed';
  return eventStream([...parts, { name: type, data: { type, model, created, usage } }], 'data: [DONE]\n\n');
}
