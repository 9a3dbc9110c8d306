import { z } from 'zod';
import { Desk } from '../desk.ts';
import type { Submission } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Dialect } from '../dialect.ts';
import { inSeconds } from '../job.ts';
import { pairIn } from '../sizes.ts';
import type { Size } from '../sizes.ts';
import { check, json, parseJson } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import { askedOfArk } from './ark.ts';
import { arkError, arkProblems, arkRequestId, modelNotFound, noArkRoute, refuseArk } from './ark-error.ts';

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
  background: z.enum(['auto', 'transparent', 'opaque']).optional(),
  optimize_prompt_options: z.looseObject({ mode: z.enum(['standard', 'fast']).optional() }).optional(),
  tools: z.array(z.object({ type: z.string() })).optional(),
});

/** Volcengine Ark: synchronous images, one for each call. */
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
  await world.paint(faults);
  if (faults.has('item-moderation') || faults.has('moderation-in-task')) throw outputModerated;
  if (faults.has('item-error') || faults.has('failed')) throw arkProblems.internal;
  desk.countCreate(submission);
  const { width, height } = sizeIn(body);
  const look = { format: body.output_format, tint: 0, marked: body.watermark };
  const medium = world.image({ width, height }, look, faults);
  const owner = { id: arkRequestId(world.now()), faults: faults.sources() };
  const file =
    body.response_format === 'b64_json'
      ? { b64_json: world.renderBase64(medium) }
      : { url: world.link(owner, medium, world.now()) };
  const tokens = Math.floor(((width * height) / pixelsPerToken) * faults.usageFactor());
  const references = [body.image ?? []].flat().length;
  const usage = {
    generated_images: 1,
    output_tokens: tokens,
    total_tokens: tokens,
    input_images: references > 0 ? references : undefined,
  };
  return json(200, {
    model,
    created: inSeconds(world.now()),
    data: [{ ...(faults.has('missing-url') ? {} : file), size: `${width}x${height}` }],
    ...(faults.has('missing-usage') ? {} : { usage }),
  });
}

const outputModerated = arkError(
  400,
  'OutputImageSensitiveContentDetected',
  'The output image may contain sensitive information.',
);

/** `2K` is square here; the original picks the aspect from the prompt. */
function sizeIn({ size }: z.infer<typeof bodySchema>): Size {
  const side = size.endsWith('K') ? Number(size.slice(0, -1)) * 1024 : 1024;
  return pairIn(size) ?? { width: side, height: side };
}
