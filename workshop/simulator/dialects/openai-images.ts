import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { check, dialect, inSeconds, json, pairIn, parseJson, readForm } from '../engine.ts';
import { refusals, taken, textsOf, word } from '../engine.ts';
import type { Call, Desk, Job, Mistake, Rendered, Reply, Submission, WireRequest } from '../engine.ts';

/** OpenAI's image API. Other gateways also implement it, with errors of their own. */

const linkSeconds = 3600;
const charactersPerToken = 4;
const tokensPerInputImage = 323;
const tokensPerPartial = 100;

const types: Readonly<Record<string, string>> = {
  rate_limit_exceeded: 'requests',
  insufficient_quota: 'insufficient_quota',
  moderation_blocked: 'image_generation_user_error',
  server_error: 'server_error',
  service_unavailable: 'server_error',
};
const refuse = refusals(({ status, code, message, param }) => {
  const type = types[String(code)] ?? 'invalid_request_error';
  const error = { message, type, param: param === '' ? null : param, code: code === '' ? null : code };
  return json(status, { error }, { 'x-request-id': `req_${randomBytes(16).toString('hex')}` });
});
const mistake = ({ field, reason, isAbsent }: Pick<Mistake, 'field' | 'reason' | 'isAbsent'>) =>
  isAbsent
    ? refuse(400, 'missing_required_parameter', `Missing required parameter: '${field}'.`, field)
    : refuse(400, 'invalid_value', `Invalid '${field}': ${reason}.`, field);
const blocked = 'Your request was rejected as a result of our safety system.';
const moderated = refuse(400, 'moderation_blocked', blocked);
const violated = refuse(400, 'content_policy_violation', blocked);

export const noSuchUrl = ({ method, path }: WireRequest) =>
  refuse(404, '', `Invalid URL (${method} /v1${path})`);

export const openAi = dialect({
  name: 'openai',
  prefix: '/openai/v1',
  mistake,
  noSuchRoute: noSuchUrl,
  problems: {
    unauthorized: refuse(401, 'invalid_api_key', 'Incorrect API key provided.'),
    forbidden: refuse(
      403,
      'organization_not_verified',
      'Your organization must be verified to use the model.',
    ),
    'not-found': refuse(404, 'not_found', 'The resource does not exist.'),
    'rate-limited': refuse(429, 'rate_limit_exceeded', 'Rate limit reached for images per minute.'),
    'quota-exhausted': refuse(429, 'insufficient_quota', 'You exceeded your current quota.'),
    moderated,
    internal: refuse(500, 'server_error', 'The server had an error while processing your request.'),
    unavailable: refuse(503, 'service_unavailable', 'The engine is currently overloaded.'),
  },
  routes: imageRoutes,
});

/** In multipart forms, every value is text. */
const whole = z.union([z.int(), z.string().regex(/^\d+$/).transform(Number)]);
const bodySchema = z.object({
  ...taken({ text: 'moderation input_fidelity complexity' }),
  prompt: z.string().min(1),
  n: whole.default(1),
  size: z.string().regex(/^(?:auto|\d{3,4}x\d{3,4})$/, 'not a size').default('auto'),
  quality: word('auto max xhigh high medium low standard hd').default('auto'),
  response_format: z.enum(['url', 'b64_json']).optional(),
  output_format: z.enum(['png', 'jpeg', 'webp']).default('png'),
  output_compression: whole.optional(),
  background: z.enum(['transparent', 'opaque', 'auto']).default('auto'),
  style: z.enum(['vivid', 'natural']).optional(),
  stream: z.union([z.boolean(), z.stringbool()]).default(false),
  partial_images: whole.pipe(z.number().max(3)).default(0),
}); // prettier-ignore
type Body = z.infer<typeof bodySchema>;

const outline = z.object({
  model: z.string().catch('dall-e-2'),
  prompt: z.string().catch(''),
  user: z.string().catch(''),
});

export function imageRoutes(desk: Desk<Rendered>) {
  return {
    'GET /models': () => json(200, { object: 'list', data: [] }),
    'POST /images/generations': (call: Call) => paint(desk, call, 'generations'),
    'POST /images/edits': (call: Call) => paint(desk, call, 'edits'),
  };
}

async function paint(desk: Desk<Rendered>, { request }: Call, kind: 'generations' | 'edits'): Promise<Reply> {
  const form = kind === 'edits' ? await readForm(request) : undefined;
  if (kind === 'edits' && form === undefined)
    throw refuse(400, '', 'The request body must be multipart/form-data.');
  const raw = form === undefined ? parseJson(request.body) : textsOf(form);
  const { user: endUser, ...asked } = check(outline, raw, () => refuse(400, '', 'The body is not JSON.'));
  const inputs = Array.from(form ?? []).filter(
    ([name, value]) => /^image(?:\[\])?$/.test(name) && typeof value !== 'string',
  ).length;
  return desk.create(request, { ...asked, endUser }, async (submission) => {
    const isGpt = /^(?:chat)?gpt-image-/.test(submission.model);
    const body = readBody(raw, submission);
    if (kind === 'edits' && inputs === 0) throw mistake({ field: 'image', reason: '', isAbsent: true });
    const size = pairIn(body.size) ?? { width: 1024, height: 1024 };
    const id = `img-${randomBytes(12).toString('hex')}`;
    const order = { id, detail: { ...size, seconds: 0, images: body.n } };
    // The content of the output is checked only after rendering.
    const job = await desk.paint(submission, order, isGpt ? moderated : violated);
    const marked = kind === 'edits';
    if (isGpt) return withBytes(job, { body, inputs, marked, isLater: isLaterGpt(submission.model) });
    const revised_prompt = submission.model === 'dall-e-3' ? `${body.prompt}, in great detail` : undefined;
    const files = job.pictures(body.response_format, { lifetimeSeconds: linkSeconds, look: { marked } });
    const data = files.map((file) => ({ ...file, revised_prompt }));
    return json(200, { created: inSeconds(job.now), data });
  });
}

function readBody(raw: unknown, { model }: Submission): Body {
  const isGpt = /^(?:chat)?gpt-image-/.test(model);
  if (model === 'gpt-image-1' || (!isGpt && !/^dall-e-[23]$/.test(model)))
    throw refuse(404, 'model_not_found', `The model '${model}' does not exist.`, 'model');
  const body = check(bodySchema, raw, mistake);
  if (body.partial_images > 0 && !body.stream)
    throw refuse(400, 'invalid_value', "'partial_images' needs 'stream'.", 'partial_images');
  const isLater = isLaterGpt(model);
  if (/^(?:max|xhigh)$/.test(body.quality) && !isLater)
    throw refuse(400, 'invalid_value', `Invalid value: '${body.quality}'.`, 'quality');
  const foreign: Readonly<Record<string, boolean>> = {
    response_format: isGpt,
    style: isGpt,
    complexity: !isLater,
    input_fidelity: model.startsWith('gpt-image-2'),
  };
  const unknown = Object.entries(body).find(([name, value]) => value !== undefined && foreign[name] === true);
  if (unknown === undefined) return body;
  throw refuse(400, 'unknown_parameter', `Unknown parameter: '${unknown[0]}'.`, unknown[0]);
}

function isLaterGpt(model: string): boolean {
  return /^gpt-image-2\.\d/.test(model);
}

/** The output tokens of an image of one square megapixel, by quality. Other sizes are proportional. */
const tokensPerSquare = { low: 272, medium: 1056, high: 4160 };
const tokensPerLaterSquare = { low: 196, medium: 439, high: 1756, xhigh: 3122, max: 7024 };

interface Painted {
  readonly body: Body;
  readonly inputs: number;
  readonly marked: boolean;
  readonly isLater: boolean;
}

/** GPT image models always return base64, with usage. */
function withBytes(job: Job, { body, inputs, marked, isLater }: Painted): Reply {
  const { width, height } = job.detail;
  const quality = body.quality === 'auto' ? 'medium' : body.quality;
  const square =
    new Map(Object.entries(isLater ? tokensPerLaterSquare : tokensPerSquare)).get(quality) ?? 1056;
  const perImage = Math.round((square * width * height) / (1024 * 1024));
  const partials = body.stream ? body.partial_images : 0;
  const output_tokens = Math.floor(job.billed((perImage + partials * tokensPerPartial) * body.n));
  const text_tokens = Math.ceil(body.prompt.length / charactersPerToken);
  const image_tokens = inputs * tokensPerInputImage;
  const input_tokens = text_tokens + image_tokens;
  const total_tokens = input_tokens + output_tokens;
  const input_tokens_details = { text_tokens, image_tokens };
  const { output_format } = body;
  const background = body.background === 'transparent' ? 'transparent' : 'opaque';
  const data = Array.from({ length: body.n }, (_, tint) => {
    return { b64_json: job.picture({ format: output_format, tint, marked }) };
  });
  const usage = job.reported({ total_tokens, input_tokens, output_tokens, input_tokens_details });
  const about = { background, output_format, quality, size: `${width}x${height}` };
  const created = inSeconds(job.now);
  if (!body.stream) return json(200, { created, ...about, data, usage });
  const prefix = marked ? 'image_edit' : 'image_generation';
  const event = (type: string, fields: object) => ({
    type: `${prefix}.${type}`,
    ...about,
    created_at: created,
    ...fields,
  });
  return events([
    ...Array.from({ length: partials }, (_, index) => {
      const b64_json = job.picture({ format: output_format, tint: index + 1, marked });
      return event('partial_image', { b64_json, partial_image_index: index });
    }),
    ...data.map((image) => event('completed', { ...image, usage })),
  ]);
}

const eventMs = 300;

function events(list: readonly { readonly type: string }[]): Reply {
  const text = list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return {
    kind: 'trickle',
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
    body: Buffer.from(text),
    durationMs: eventMs * list.length,
  };
}
