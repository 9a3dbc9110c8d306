import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { areaOf, bytes, check, dialect, json, readForm, refusals, taken, textsOf } from '../engine.ts';
import type { Call, Desk, Mistake, Rendered, Reply } from '../engine.ts';

/** Stability's synchronous images, which can only be requested with forms. */

const refuse = refusals(({ status, code, message }) =>
  json(status, { id: randomUUID(), name: code, errors: [message] }),
);
const mistake = ({ path, reason }: Mistake) => refuse(400, 'bad_request', `${path}: ${reason}`);

const numeral = z.string().regex(/^\d+(?:\.\d+)?$/);
const common = {
  ...taken({ text: 'negative_prompt style_preset' }),
  prompt: z.string().min(1),
  aspect_ratio: z
    .string()
    .regex(/^\d+:\d+$/)
    .default('1:1'),
  seed: numeral.default('0'),
  output_format: z.enum(['png', 'jpeg', 'webp']).default('png'),
};
const strength = numeral.optional();
const forms = {
  core: z.strictObject(common),
  ultra: z.strictObject({ ...common, strength }),
  sd3: z.strictObject({
    ...common,
    ...taken({ text: 'model mode' }),
    strength,
    cfg_scale: numeral.optional(),
  }),
};
const sides = { core: 1254, ultra: 1024, sd3: 1024 };
type Kind = keyof typeof forms;

export const stability = dialect({
  name: 'stability',
  prefix: '/stability',
  mistake,
  problems: {
    unauthorized: refuse(401, 'unauthorized', 'missing or invalid authorization'),
    forbidden: refuse(403, 'permission_denied', 'no access'),
    'not-found': refuse(404, 'not_found', 'not found'),
    'rate-limited': refuse(429, 'rate_limit_exceeded', 'more than 150 requests in 10 seconds'),
    'quota-exhausted': refuse(402, 'payment_required', 'not enough credits'),
    moderated: refuse(403, 'content_moderation', 'the request was flagged'),
    internal: refuse(500, 'internal_error', 'an unexpected error occurred'),
    unavailable: refuse(503, 'unavailable', 'the service is not available'),
  },
  routes: (desk) => ({
    'GET /v1/user/balance': () => json(200, { credits: 100 }),
    'POST /v2beta/stable-image/generate/core': (call) => paint(desk, call, 'core'),
    'POST /v2beta/stable-image/generate/ultra': (call) => paint(desk, call, 'ultra'),
    'POST /v2beta/stable-image/generate/sd3': (call) => paint(desk, call, 'sd3'),
  }),
});

async function paint(desk: Desk<Rendered>, { request }: Call, kind: Kind): Promise<Reply> {
  const form = await readForm(request);
  if (form === undefined) throw refuse(400, 'bad_request', 'content-type: must be multipart/form-data');
  const texts = textsOf(form);
  const fields = check<z.infer<(typeof forms)['core']>>(forms[kind], texts, mistake);
  const picture = form.get('image');
  const isStrange = kind === 'core' || typeof picture === 'string' || !form.has('strength');
  if (picture !== null && isStrange)
    throw refuse(400, 'bad_request', 'image: a file with a strength, and not of core');
  const { model = kind } = texts;
  return desk.create(request, { model, prompt: fields.prompt }, async (submission) => {
    const { output_format: format, seed } = fields;
    const detail = { ...areaOf(sides[kind], fields.aspect_ratio), seconds: 0, images: 1 };
    const job = await desk.paint(submission, { id: randomUUID(), detail });
    const { faults } = job;
    const look = { format, marked: picture !== null };
    const finish_reason = faults.has('moderation-in-task') ? 'CONTENT_FILTERED' : 'SUCCESS';
    if (request.headers.accept === 'application/json') {
      const image = faults.has('missing-url') ? {} : { image: job.picture(look) };
      return json(200, { ...image, finish_reason, seed: Number(seed) });
    }
    const headers = { 'content-type': `image/${format}`, 'finish-reason': finish_reason, seed };
    return bytes(200, Buffer.from(job.picture(look), 'base64'), headers);
  });
}
