import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Desk } from '../desk.ts';
import type { Problems, Submission } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { inSeconds } from '../job.ts';
import type { Medium } from '../media/medium.ts';
import { pairIn } from '../sizes.ts';
import { check, json, parseJson, readForm, refusals, textsOf } from '../wire.ts';
import type { Mistake, Reply, WireRequest } from '../wire.ts';
import type { World } from '../world.ts';

const linkSeconds = 3600;
const charactersPerToken = 4;
const tokensPerInputImage = 323;

/** By the codes that have a type of their own. */
const types: Readonly<Record<string, string>> = {
  rate_limit_exceeded: 'requests',
  insufficient_quota: 'insufficient_quota',
  moderation_blocked: 'image_generation_user_error',
  server_error: 'server_error',
  service_unavailable: 'server_error',
};
const refuse = refusals(({ status, code, message, param }) => {
  const error = {
    message,
    type: types[String(code)] ?? 'invalid_request_error',
    param: param === '' ? null : param,
    code: code === '' ? null : code,
  };
  return json(status, { error }, { 'x-request-id': `req_${randomBytes(16).toString('hex')}` });
});
export const noSuchUrl = ({ method, path }: WireRequest) =>
  refuse(404, '', `Invalid URL (${method} /v1${path})`);
const blocked = 'Your request was rejected as a result of our safety system.';

const problems = {
  unauthorized: refuse(401, 'invalid_api_key', 'Incorrect API key provided.'),
  forbidden: refuse(403, 'organization_not_verified', 'Your organization must be verified to use the model.'),
  'not-found': refuse(404, 'not_found', 'The resource does not exist.'),
  'rate-limited': refuse(429, 'rate_limit_exceeded', 'Rate limit reached for images per minute.'),
  'quota-exhausted': refuse(429, 'insufficient_quota', 'You exceeded your current quota.'),
  moderated: refuse(400, 'moderation_blocked', blocked),
  internal: refuse(500, 'server_error', 'The server had an error while processing your request.'),
  unavailable: refuse(503, 'service_unavailable', 'The engine is currently overloaded.'),
} satisfies Problems;

/** OpenAI: images. */
export function createOpenAiDialect(world: World): Dialect {
  const desk = new Desk(world, 'openai', problems);
  return createDialect(desk, {
    prefix: '/openai/v1',
    noSuchRoute: noSuchUrl,
    routes: {
      'POST /images/generations': (call) => createImage(desk, call, 'generations'),
      'POST /images/edits': (call) => createImage(desk, call, 'edits'),
    },
    headersOf: ({ status }, elapsedMs) => ({
      'openai-processing-ms': String(Math.round(elapsedMs)),
      'x-ratelimit-limit-requests': '500',
      'x-ratelimit-remaining-requests': status === 429 ? '0' : '499',
      'x-ratelimit-reset-requests': '120ms',
    }),
  });
}

/** Multipart carries every value as text: numbers and flags are read from both. */
const numberOrText = (min: number, max: number) =>
  z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)]).pipe(z.int().min(min).max(max));
const bodySchema = z.object({
  prompt: z.string().min(1).max(32_000),
  n: numberOrText(1, 10).default(1),
  size: z.string().regex(/^(?:auto|\d{3,4}x\d{3,4})$/, 'not a size').default('auto'),
  quality: z.enum(['auto', 'high', 'medium', 'low', 'standard', 'hd']).default('auto'),
  response_format: z.enum(['url', 'b64_json']).optional(),
  output_format: z.enum(['png', 'jpeg', 'webp']).default('png'),
  output_compression: numberOrText(0, 100).optional(),
  background: z.enum(['transparent', 'opaque', 'auto']).default('auto'),
  moderation: z.enum(['auto', 'low']).optional(),
  style: z.enum(['vivid', 'natural']).optional(),
  input_fidelity: z.enum(['high', 'low']).optional(),
}); // prettier-ignore
type Body = z.infer<typeof bodySchema>;

function refuseField({ field, reason, isAbsent }: Mistake) {
  return isAbsent
    ? refuse(400, 'missing_required_parameter', `Missing required parameter: '${field}'.`, field)
    : refuse(400, 'invalid_value', `Invalid '${field}': ${reason}.`, field);
}

const outline = z.object({
  model: z.string().catch('dall-e-2'),
  prompt: z.string().catch(''),
  user: z.string().catch(''),
});

/** Images in OpenAI's dialect; also spoken by gateways, each with its own words for a problem. */
export async function createImage(
  desk: Desk,
  { request }: Call,
  kind: 'generations' | 'edits',
): Promise<Reply> {
  const form = kind === 'edits' ? await readForm(request) : undefined;
  if (kind === 'edits' && form === undefined)
    throw refuse(400, '', 'The request body must be multipart/form-data.');
  const raw = form === undefined ? parseJson(request.body) : textsOf(form);
  const {
    model,
    prompt,
    user: endUser,
  } = check(outline, raw, () => refuse(400, '', 'The body is not JSON.'));
  const inputs = Array.from(form ?? []).filter(
    ([name, value]) => /^image(?:\[\])?$/.test(name) && typeof value !== 'string',
  ).length;
  return desk.create(request, { model, prompt, endUser }, (submission) =>
    generate(desk, { raw, kind, inputs }, submission),
  );
}

interface Asked {
  readonly raw: unknown;
  readonly kind: 'generations' | 'edits';
  readonly inputs: number;
}

async function generate(desk: Desk, { raw, kind, inputs }: Asked, submission: Submission): Promise<Reply> {
  const { world } = desk;
  const { model, faults } = submission;
  const isGpt = /^(?:chat)?gpt-image-/.test(model);
  if (!isGpt && !/^dall-e-[23]$/.test(model))
    throw refuse(404, 'model_not_found', `The model '${model}' does not exist.`, 'model');
  const body = check(bodySchema, raw, refuseField);
  const unknown = isGpt
    ? (['response_format', 'style'] as const).find((name) => body[name] !== undefined)
    : undefined;
  if (unknown !== undefined)
    throw refuse(400, 'unknown_parameter', `Unknown parameter: '${unknown}'.`, unknown);
  if (kind === 'edits' && inputs === 0)
    throw refuseField({ field: 'image', path: 'image', reason: '', isAbsent: true });
  await world.paint(faults);
  // Moderation of the older models has a code of its own; what the output shows is judged after the work.
  if (faults.has('item-moderation') || faults.has('moderation-in-task'))
    throw isGpt ? problems.moderated : refuse(400, 'content_policy_violation', blocked);
  if (faults.has('item-error') || faults.has('failed')) throw problems.internal;
  desk.countCreate(submission);
  const size = pairIn(body.size) ?? { width: 1024, height: 1024 };
  const images = Array.from({ length: body.n }, (_, tint) =>
    world.image(size, { format: isGpt ? body.output_format : 'png', tint, marked: kind === 'edits' }, faults),
  );
  return isGpt
    ? replyWithBytes(world, { body, images, inputs }, submission)
    : replyWithLinks(world, { body, images }, submission);
}

interface Drawn {
  readonly body: Body;
  readonly images: readonly Medium[];
}

/** Output tokens of a square megapixel by quality; other sizes in proportion. */
const tokensPerSquare: Readonly<Record<string, number>> = { low: 272, medium: 1056, high: 4160 };

/** GPT image models always answer in base64, with usage. */
function replyWithBytes(
  world: World,
  { body, images, inputs }: Drawn & Pick<Asked, 'inputs'>,
  { faults }: Submission,
): Reply {
  const { width = 0, height = 0 } = images[0] ?? {};
  const quality = body.quality === 'auto' ? 'medium' : body.quality;
  const perImage = Math.round(((tokensPerSquare[quality] ?? 1056) * width * height) / (1024 * 1024));
  const output = Math.floor(perImage * images.length * faults.usageFactor());
  const text_tokens = Math.ceil(body.prompt.length / charactersPerToken);
  const image_tokens = inputs * tokensPerInputImage;
  const input = text_tokens + image_tokens;
  const usage = {
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
    input_tokens_details: { text_tokens, image_tokens },
  };
  const background = body.background === 'transparent' ? 'transparent' : 'opaque';
  const about = { background, output_format: body.output_format, quality, size: `${width}x${height}` };
  const created = inSeconds(world.now());
  const data = images.map((image) => ({ b64_json: world.renderBase64(image) }));
  return json(200, { created, ...about, data, ...(faults.has('missing-usage') ? {} : { usage }) });
}

/** dall-e: links or base64, without usage. */
function replyWithLinks(world: World, { body, images }: Drawn, { model, faults }: Submission): Reply {
  const now = world.now();
  const revised_prompt = model === 'dall-e-3' ? `${body.prompt}, in great detail` : undefined;
  const data = images.map((image) => {
    if (body.response_format === 'b64_json') return { b64_json: world.renderBase64(image), revised_prompt };
    const owner = { id: `img-${randomBytes(12).toString('hex')}`, faults: faults.sources() };
    return { url: world.link(owner, image, now, linkSeconds), revised_prompt };
  });
  return json(200, { created: inSeconds(now), data });
}
