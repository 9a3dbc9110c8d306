import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { Desk } from '../desk.ts';
import type { Problems } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { areaOf } from '../sizes.ts';
import { bytes, check, json, readForm, refusals, textsOf } from '../wire.ts';
import type { Mistake, Reply } from '../wire.ts';
import type { World } from '../world.ts';

/** Stability: images at once, asked for by forms alone. */

const refuse = refusals(({ status, code, message }) =>
  json(status, { id: randomUUID(), name: code, errors: [message] }),
);

const problems = {
  unauthorized: refuse(401, 'unauthorized', 'missing or invalid authorization'),
  forbidden: refuse(403, 'permission_denied', 'no access'),
  'not-found': refuse(404, 'not_found', 'not found'),
  'rate-limited': refuse(429, 'rate_limit_exceeded', 'more than 150 requests in 10 seconds'),
  'quota-exhausted': refuse(402, 'payment_required', 'not enough credits'),
  moderated: refuse(403, 'content_moderation', 'the request was flagged'),
  internal: refuse(500, 'internal_error', 'an unexpected error occurred'),
  unavailable: refuse(503, 'unavailable', 'the service is not available'),
} satisfies Problems;

const common = {
  prompt: z.string().min(1).max(10_000),
  negative_prompt: z.string().max(10_000).optional(),
  aspect_ratio: z.enum(['16:9', '1:1', '21:9', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21']).default('1:1'),
  seed: z.coerce.number().int().min(0).max(4_294_967_294).default(0),
  output_format: z.enum(['png', 'jpeg', 'webp']).default('png'),
  style_preset: z.string().optional(),
};
const strength = z.coerce.number().min(0).max(1).optional();
const forms = {
  core: z.strictObject(common),
  ultra: z.strictObject({ ...common, strength }),
  sd3: z.strictObject({
    ...common,
    strength,
    model: z.string().default('sd3.5-large'),
    mode: z.enum(['text-to-image', 'image-to-image']).default('text-to-image'),
    cfg_scale: z.coerce.number().min(1).max(10).optional(),
  }),
};
const sides = { core: 1254, ultra: 1024, sd3: 1024 };

const refuseField = ({ path, reason }: Mistake) => refuse(400, 'bad_request', `${path}: ${reason}`);

export function createStabilityDialect(world: World): Dialect {
  const desk = new Desk(world, 'stability', problems);
  const paint =
    (kind: keyof typeof forms) =>
    async ({ request }: Call): Promise<Reply> => {
      const form = await readForm(request);
      if (form === undefined) throw refuse(400, 'bad_request', 'content-type: must be multipart/form-data');
      const fields = check<z.infer<(typeof forms)['core']>>(forms[kind], textsOf(form), refuseField);
      const picture = form.get('image');
      const { model = kind } = textsOf(form);
      if (
        picture !== null &&
        (kind === 'core' || typeof picture === 'string' || form.get('strength') === null)
      )
        throw refuse(400, 'bad_request', 'image: a file with a strength, and not of core');
      return desk.create(request, { model, prompt: fields.prompt }, async (submission) => {
        const { faults } = submission;
        await world.paint(faults);
        desk.countCreate(submission);
        const { output_format: format, seed } = fields;
        const shape = areaOf(sides[kind], fields.aspect_ratio);
        const medium = world.image(shape, { format, tint: 0, marked: picture !== null }, faults);
        const finish_reason = faults.has('moderation-in-task') ? 'CONTENT_FILTERED' : 'SUCCESS';
        if (request.headers.accept === 'application/json') {
          const image = faults.has('missing-url') ? {} : { image: world.renderBase64(medium) };
          return json(200, { ...image, finish_reason, seed });
        }
        const headers = {
          'content-type': `image/${format}`,
          'finish-reason': finish_reason,
          seed: String(seed),
        };
        return bytes(200, world.parts.media.render(medium), headers);
      });
    };
  return createDialect(desk, {
    prefix: '/stability/v2beta/stable-image/generate',
    noSuchRoute: ({ path }) => refuse(404, 'not_found', `no such path: ${path}`),
    routes: { 'POST /core': paint('core'), 'POST /ultra': paint('ultra'), 'POST /sd3': paint('sd3') },
  });
}
