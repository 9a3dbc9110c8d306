import { randomUUID } from 'node:crypto';
import type { Desk, Submission } from '../desk.ts';
import type { Call } from '../dialect.ts';
import { check, json, parseJson } from '../wire.ts';
import type { Reply } from '../wire.ts';
import { accepted, hailuoProblems, invalidHailuo, outputModerated } from './minimax-error.ts';
import { imageSize } from './minimax-models.ts';
import { imageAskedSchema, readHailuoImage } from './minimax-v1-request.ts';

/** image-01: images at once. */
export function paintHailuo(desk: Desk, { request }: Call): Promise<Reply> {
  const body = parseJson(request.body);
  const asked = check(imageAskedSchema, body, ({ path, reason }) => invalidHailuo(`${path}: ${reason}`));
  return desk.create(request, asked, (submission) => generate(desk, body, submission));
}

/** Images that failed are missing; where none is left, the first reason is the answer. */
async function generate(desk: Desk, asked: unknown, submission: Submission): Promise<Reply> {
  const { world } = desk;
  const { faults, model } = submission;
  const body = readHailuoImage(asked, model);
  await world.paint(faults);
  if (faults.has('moderation-in-task')) throw outputModerated;
  if (faults.has('failed')) throw hailuoProblems.internal;
  const lost = ['item-error', 'item-moderation'].flatMap((name) =>
    faults.has(name) ? [faults.number(name) ?? 0] : [],
  );
  const [width, height] = sizeOf(body);
  const media = Array.from({ length: body.n }, (_, tint) => tint)
    .filter((index) => !lost.includes(index))
    .map((tint) =>
      world.image({ width, height }, { format: 'jpeg', tint, marked: body.aigc_watermark }, faults),
    );
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

/** `aspect_ratio` wins over pixels. */
function sizeOf({
  aspect_ratio: ratio,
  width,
  height,
}: ReturnType<typeof readHailuoImage>): readonly [width: number, height: number] {
  if (ratio !== undefined || width === undefined || height === undefined) return imageSize(ratio ?? '1:1');
  return [width, height];
}
