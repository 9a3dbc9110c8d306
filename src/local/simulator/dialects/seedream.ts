import { z } from 'zod';
import { Desk } from '../desk.ts';
import type { Submission } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Dialect } from '../dialect.ts';
import type { FaultSet } from '../fault.ts';
import { inSeconds } from '../job.ts';
import type { Medium } from '../media/medium.ts';
import { pairIn } from '../sizes.ts';
import type { Size } from '../sizes.ts';
import { check, eventStream, json, parseJson } from '../wire.ts';
import type { Refusal, Reply } from '../wire.ts';
import type { World } from '../world.ts';
import { askedOfArk } from './ark.ts';
import {
  arkError,
  arkProblems,
  arkRequestId,
  arkWords,
  modelNotFound,
  noArkRoute,
  refuseArk,
} from './ark-error.ts';

/** Of a group, together with the references. */
const imagesMax = 15;
const pixelsPerToken = 256;
const modelOfEndpoints = 'doubao-seedream-4-5-251128';
const source = z.string().regex(/^(?:https?:\/\/.|data:image\/[a-z]+;base64,[A-Za-z0-9+/])/, 'not an image');

const bodySchema = z.object({
  prompt: z.string().min(1),
  image: z.union([source, z.array(source)]).optional(),
  size: z
    .string()
    .regex(/^(?:adaptive|[1-4](?:\.5)?K|\d{2,5}x\d{2,5})$/, 'not a size')
    .default('2K'),
  seed: z.int().min(-1).max(2_147_483_647).optional(),
  guidance_scale: z.number().min(1).max(10).optional(),
  response_format: z.enum(['url', 'b64_json']).default('url'),
  output_format: z.enum(['jpeg', 'png']).default('jpeg'),
  watermark: z.boolean().default(true),
  sequential_image_generation: z.enum(['disabled', 'auto']).default('disabled'),
  sequential_image_generation_options: z
    .object({ max_images: z.int().min(1).max(imagesMax).optional() })
    .optional(),
  stream: z.boolean().default(false),
  background: z.enum(['auto', 'transparent', 'opaque']).optional(),
  optimize_prompt_options: z.looseObject({ mode: z.enum(['standard', 'fast']).optional() }).optional(),
  tools: z.array(z.object({ type: z.string() })).optional(),
});
type Body = z.infer<typeof bodySchema>;

/** Volcengine Ark: synchronous images. */
export function createSeedreamDialect(world: World): Dialect {
  const desk = new Desk(world, 'seedream', arkProblems);
  return createDialect(desk, {
    prefix: '/ark/api/v3/images',
    noSuchRoute: noArkRoute,
    routes: {
      'POST /generations'({ request }) {
        const body = parseJson(request.body);
        return desk.create(request, askedOfArk(body), (submission) => generate(desk, body, submission));
      },
    },
  });
}

async function generate(desk: Desk, raw: unknown, submission: Submission): Promise<Reply> {
  const { world } = desk;
  const { model: asked, faults } = submission;
  const model = asked.startsWith('ep-') ? modelOfEndpoints : asked;
  if (!/^(?:(?:doubao|dola)-)?seed(?:ream|edit)-\d-\d-/.test(model)) throw modelNotFound(asked);
  const body = check(bodySchema, raw, refuseArk);
  const items = draw(world, body, faults);
  await world.paint(faults);
  // Nothing came out: one error for the whole request, as if it had been alone.
  const [first] = items;
  if (first !== undefined && items.every((item) => 'failure' in item) && 'failure' in first)
    throw first.failure;
  desk.countCreate(submission);
  const created = inSeconds(world.now());
  const data = items.map((item) => present(world, body, { item, faults }));
  const usage = usageOf(body, items, faults);
  if (body.stream) return stream({ model, created }, data, usage);
  return json(200, { model, created, data, ...(faults.has('missing-usage') ? {} : { usage }) });
}

type Item = { readonly medium: Medium } | { readonly failure: Refusal };

const outputModerated = arkError(
  400,
  'OutputImageSensitiveContentDetected',
  'The output image may contain sensitive information.',
);

/** One image, or up to `max_images` of a group: a moderated one is skipped, an internal error ends the group. */
function draw(world: World, body: Body, faults: FaultSet): Item[] {
  const isGroup = body.sequential_image_generation === 'auto';
  const wanted = faults.number('images') ?? body.sequential_image_generation_options?.max_images ?? 1;
  const count = isGroup ? Math.max(1, Math.min(wanted, imagesMax - referencesIn(body))) : 1;
  const struck = (name: string) => (faults.has(name) ? (faults.number(name) ?? 0) : -1);
  const items: Item[] = [];
  for (let tint = 0; tint < count; tint += 1) {
    if (tint === struck('item-error')) return [...items, { failure: arkProblems.internal }];
    const look = { format: body.output_format, tint, marked: body.watermark };
    const medium = world.image(sizeIn(body), look, faults);
    items.push(tint === struck('item-moderation') ? { failure: outputModerated } : { medium });
  }
  return items;
}

/** `2K` is square here; the original picks the aspect from the prompt. */
function sizeIn({ size }: Body): Size {
  const side = size.endsWith('K') ? Number(size.slice(0, -1)) * 1024 : 1024;
  return pairIn(size) ?? { width: side, height: side };
}

function referencesIn({ image = [] }: Body): number {
  return [image].flat().length;
}

function present(world: World, body: Body, { item, faults }: { item: Item; faults: FaultSet }) {
  if ('failure' in item) return { error: arkWords(item.failure, world.now()) };
  const { medium } = item;
  const size = `${medium.width}x${medium.height}`;
  if (body.response_format === 'b64_json') return { b64_json: world.renderBase64(medium), size };
  const owner = { id: arkRequestId(world.now()), faults: faults.sources() };
  return { url: world.link(owner, medium, world.now()), size };
}

function usageOf(body: Body, items: readonly Item[], faults: FaultSet) {
  const media = items.flatMap((item) => ('medium' in item ? [item.medium] : []));
  const pixels = media.reduce((sum, { width, height }) => sum + width * height, 0);
  const tokens = Math.floor((pixels / pixelsPerToken) * faults.usageFactor());
  const references = referencesIn(body);
  return {
    generated_images: media.length,
    output_tokens: tokens,
    total_tokens: tokens,
    input_images: references > 0 ? references : undefined,
  };
}

function stream(
  about: { readonly model: string; readonly created: number },
  data: readonly object[],
  usage: object,
): Reply {
  const parts = data.map((item, image_index) => {
    const type = `image_generation.partial_${'error' in item ? 'failed' : 'succeeded'}`;
    return { name: type, data: { type, ...about, image_index, ...item } };
  });
  const type = 'image_generation.completed';
  return eventStream([...parts, { name: type, data: { type, ...about, usage } }], 'data: [DONE]\n\n');
}
