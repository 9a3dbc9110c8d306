import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { Desk } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import type { Problem } from '../disturb.ts';
import { shapeOfSquare } from '../shape.ts';
import { bytes, check, json, readForm, textsOf, WireError } from '../wire.ts';
import type { Mistake, Reply } from '../wire.ts';
import type { World } from '../world.ts';

/** Stability: images at once, asked for by forms alone. */

class StabilityError extends WireError {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  reply(): Reply {
    return json(this.status, { id: randomUUID(), name: this.code, errors: [this.message] });
  }
}

const problems: Readonly<Record<Problem, StabilityError>> = {
  unauthorized: new StabilityError(401, 'unauthorized', 'missing or invalid authorization'),
  forbidden: new StabilityError(403, 'permission_denied', 'no access'),
  'not-found': new StabilityError(404, 'not_found', 'not found'),
  'rate-limited': new StabilityError(429, 'rate_limit_exceeded', 'more than 150 requests in 10 seconds'),
  'quota-exhausted': new StabilityError(402, 'payment_required', 'not enough credits'),
  moderated: new StabilityError(403, 'content_moderation', 'the request was flagged'),
  internal: new StabilityError(500, 'internal_error', 'an unexpected error occurred'),
  unavailable: new StabilityError(503, 'unavailable', 'the service is not available'),
};

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

const refuse = ({ path, reason }: Mistake) => new StabilityError(400, 'bad_request', `${path}: ${reason}`);

export function createStabilityDialect(world: World): Dialect {
  const desk = new Desk(world, 'stability', problems);
  const paint =
    (kind: keyof typeof forms) =>
    async ({ request }: Call): Promise<Reply> => {
      const form = await readForm(request);
      if (form === undefined)
        throw new StabilityError(400, 'bad_request', 'content-type: must be multipart/form-data');
      const fields = check<z.infer<(typeof forms)['core']>>(forms[kind], textsOf(form), refuse);
      const picture = form.get('image');
      const { model = kind } = textsOf(form);
      if (
        picture !== null &&
        (kind === 'core' || typeof picture === 'string' || form.get('strength') === null)
      )
        throw new StabilityError(400, 'bad_request', 'image: a file with a strength, and not of core');
      return desk.create(request, { model, prompt: fields.prompt }, async (submission) => {
        const { faults } = submission;
        await world.paint(faults);
        desk.countCreate(submission);
        const { output_format: format, seed } = fields;
        const shape = shapeOfSquare(sides[kind], fields.aspect_ratio);
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
    noSuchRoute: ({ path }) => new StabilityError(404, 'not_found', `no such path: ${path}`),
    routes: { 'POST /core': paint('core'), 'POST /ultra': paint('ultra'), 'POST /sd3': paint('sd3') },
  });
}
