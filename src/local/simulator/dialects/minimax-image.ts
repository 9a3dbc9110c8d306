import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Desk, Submission } from '../desk.ts';
import type { Call } from '../dialect.ts';
import { areaOf } from '../sizes.ts';
import { check, json, parseJson } from '../wire.ts';
import type { Mistake, Reply } from '../wire.ts';
import { accepted, hailuoProblems, invalidHailuo, outputModerated } from './minimax-error.ts';

/** image-01: images at once. */

export const picture = z
  .string()
  .regex(/^(?:https?:\/\/\S+|data:image\/[a-z]+;base64,[A-Za-z0-9+/]+=*)$/, 'must be a url or a data URL');
const side = z.int().min(512).max(2048).multipleOf(8).optional();
const bodySchema = z.strictObject({
  model: z.string(),
  prompt: z.string().min(1).max(1500),
  aspect_ratio: z.enum(['1:1', '16:9', '4:3', '3:2', '2:3', '3:4', '9:16', '21:9']).optional(),
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
const refuse = ({ path, reason }: Mistake) => invalidHailuo(`${path}: ${reason}`);

export function paintHailuo(desk: Desk, { request }: Call): Promise<Reply> {
  const body = check(bodySchema, parseJson(request.body), refuse);
  return desk.create(request, body, (submission) => generate(desk, body, submission));
}

/** Images that failed are missing; where none is left, the first reason is the answer. */
async function generate(
  desk: Desk,
  body: z.infer<typeof bodySchema>,
  submission: Submission,
): Promise<Reply> {
  const { world } = desk;
  const { faults, model } = submission;
  if (!/^image-0\d/.test(model)) throw invalidHailuo(`unknown model: ${model}`);
  await world.paint(faults);
  if (faults.has('moderation-in-task')) throw outputModerated;
  if (faults.has('failed')) throw hailuoProblems.internal;
  const struck = ['item-error', 'item-moderation'].filter((name) => faults.has(name));
  const lost = struck.map((name) => faults.number(name) ?? 0);
  const { aspect_ratio: ratio, width = 1024, height = 1024 } = body;
  // The ratio wins over pixels.
  const size = ratio === undefined ? { width, height } : areaOf(1024, ratio, 8);
  const media = Array.from({ length: body.n }, (_, tint) => tint)
    .filter((index) => !lost.includes(index))
    .map((tint) => world.image(size, { format: 'jpeg', tint, marked: body.aigc_watermark }, faults));
  if (media.length === 0) throw faults.has('item-moderation') ? outputModerated : hailuoProblems.internal;
  desk.countCreate(submission);
  const id = randomUUID().replaceAll('-', '');
  const owner = { id, faults: faults.sources() };
  const data =
    body.response_format === 'base64'
      ? { image_base64: media.map((medium) => world.renderBase64(medium)) }
      : { image_urls: media.map((medium) => world.link(owner, medium, world.now())) };
  // The counts are text or, with docs-shape, numbers.
  const count = (value: number) => (faults.has('docs-shape') ? value : String(value));
  const metadata = { success_count: count(media.length), failed_count: count(body.n - media.length) };
  return json(200, {
    id,
    data: faults.has('missing-url') ? {} : data,
    ...(faults.has('missing-usage') ? {} : { metadata }),
    base_resp: accepted,
  });
}
