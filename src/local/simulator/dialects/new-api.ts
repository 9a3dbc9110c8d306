import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Problems } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import type { FaultSet } from '../fault.ts';
import { JobDesk } from '../job-desk.ts';
import { Job, rendered, shown } from '../job.ts';
import { pairIn } from '../sizes.ts';
import { bytes, check, json, parseJson, readForm, Refusal, refusals, textsOf } from '../wire.ts';
import type { Reply, WireRequest } from '../wire.ts';
import type { World } from '../world.ts';
import { arkModel, readArkBody, settleArk } from './ark-request.ts';
import { presentSubmit, presentTask, presentVideo } from './new-api-task.ts';
import { createImage, noSuchUrl } from './openai-images.ts';

const expiresAfterMs = 172_800_000;
const recordKeptMs = 30 * 86_400_000;

/** What the task relay refuses, and what the middleware before it does. */
const relay = refusals(({ status, code, message }) => json(status, { code, message, data: null }));
const middleware = refusals(({ status, code, message }) => {
  const text = `${message} (request id: ${randomBytes(8).toString('hex')})`;
  return json(status, { error: { message: text, type: 'new_api_error', param: '', code } });
});
/** What the upstream behind the gateway said, as text. */
const passedOn = (status: number, error: object) =>
  relay(status, 'fail_to_fetch_task', JSON.stringify({ error }));

const problems = {
  unauthorized: middleware(401, 'invalid_api_key', 'Invalid token'),
  forbidden: middleware(403, 'access_denied', 'This token has no access to the model'),
  'not-found': relay(400, 'task_not_exist', 'task_not_exist'),
  'rate-limited': middleware(429, 'rate_limit_exceeded', 'Too many requests'),
  'quota-exhausted': relay(403, 'quota_not_enough', 'user quota is not enough'),
  moderated: passedOn(400, {
    code: 'InputTextSensitiveContentDetected',
    message: 'The request failed because the input text may contain sensitive information.',
  }),
  internal: relay(500, 'fail_to_fetch_task', 'upstream request failed'),
  unavailable: middleware(503, 'get_channel_failed', 'No available channel for the model'),
} satisfies Problems;

const newApiDetail = z.object({
  ...rendered,
  /** Of the models whose upstream reports tokens. */
  tokens: z.number().optional(),
});
export type NewApiDetail = z.infer<typeof newApiDetail>;
type NewApiDesk = JobDesk<NewApiDetail>;

/** Another gateway, new-api style: videos in two dialects, images in OpenAI's. */
export function createNewApiDialect(world: World): Dialect {
  const desk: NewApiDesk = new JobDesk(world, {
    name: 'new-api',
    problems,
    detail: newApiDetail,
    recordKeptMs,
  });
  return createDialect(desk, {
    prefix: '/new-api/v1',
    noSuchRoute: noSuchUrl,
    routes: {
      'POST /video/generations': (call) => submit(desk, call),
      'GET /video/generations/:id': (call) => desk.about('poll', call, shown(world, presentTask)),
      'POST /videos': (call) => submit(desk, call),
      'GET /videos/:id': (call) => desk.about('poll', call, shown(world, presentVideo)),
      'GET /videos/:id/content': (call) =>
        desk.about('media', call, { found: (task) => content(new Job(task, world)) }),
      'POST /images/generations': (call) => createImage(desk, call, 'generations'),
      'POST /images/edits': (call) => createImage(desk, call, 'edits'),
    },
  });
}

const metadataSchema = z.record(z.string(), z.unknown());
const seconds = z.union([z.int(), z.string().regex(/^\d+$/).transform(Number)]).pipe(z.int().min(-1).max(60));
const bodySchema = z.object({
  model: z.string().min(1),
  prompt: z.string().min(1),
  image: z.string().optional(),
  images: z.array(z.string()).optional(),
  input_reference: z.string().optional(),
  size: z.string().regex(/^\d{2,5}x\d{2,5}$/).optional(),
  duration: seconds.optional(),
  seconds: seconds.optional(),
  metadata: metadataSchema.default({}),
}); // prettier-ignore
type Body = z.infer<typeof bodySchema>;

async function submit(desk: NewApiDesk, { request }: Call): Promise<Reply> {
  const body = check(bodySchema, await readFields(request), ({ field, reason, isAbsent }) =>
    relay(400, 'invalid_request', `${field} ${isAbsent ? 'is required' : reason}`),
  );
  return desk.create(request, body, async (submission) => {
    const { model, faults } = submission;
    const task = await desk.accept(submission, {
      id: `task_${randomBytes(24).toString('base64url').replaceAll(/[-_]/g, '0')}`,
      expiresAfterMs,
      detail: settle(body, model, faults),
    });
    if (faults.has('ark-shape')) return json(200, { id: task.id });
    const ratios = JSON.stringify({ seconds: task.detail.seconds });
    return json(200, presentSubmit(task), { 'x-new-api-other-ratios': ratios });
  });
}

/** JSON or multipart, whose `metadata` is JSON in a text field. */
async function readFields(request: WireRequest): Promise<Record<string, unknown>> {
  const form = await readForm(request);
  const refuse = () => relay(400, 'invalid_request', 'invalid request body');
  if (form === undefined) return check(metadataSchema, parseJson(request.body), refuse);
  const { metadata, ...rest } = textsOf(form);
  return metadata === undefined ? rest : { ...rest, metadata: parseJson(Buffer.from(metadata)) };
}

/** Models other than Ark's that the gateway has a channel for. */
const otherModels = /^(sora-2|kling-|wan|vidu|veo-|hailuo|minimax)/i;

function settle(body: Body, asked: string, faults: FaultSet): NewApiDetail {
  const model = arkModel(asked);
  if (model !== undefined) return settleByArk(body, { asked, model }, faults);
  if (!otherModels.test(asked))
    throw middleware(503, 'model_not_found', `No available channel for model ${asked} under group default`);
  const { width, height } = pairIn(body.size ?? '') ?? { width: 1280, height: 720 };
  return { width, height, seconds: body.duration ?? body.seconds ?? 5, images: 0 };
}

/** The body as it is passed on: metadata is merged over it, text always comes from `prompt`. */
function settleByArk(
  body: Body,
  { asked, model }: { readonly asked: string; readonly model: string },
  faults: FaultSet,
): NewApiDetail {
  const { content: items, ...metadata } = body.metadata;
  const images = body.images ?? [body.image ?? body.input_reference ?? []].flat();
  const role = images.length > 1 ? { role: 'reference_image' } : {};
  const own: readonly unknown[] = images.map((url) => ({ type: 'image_url', image_url: { url }, ...role }));
  const media = Array.isArray(items) ? items.filter((item) => !isText(item)) : own;
  const asNumber = body.duration ?? body.seconds;
  try {
    const order = readArkBody({
      ...(asNumber === undefined ? {} : { duration: asNumber }),
      ...metadata,
      content: [{ type: 'text', text: body.prompt }, ...media],
    });
    const { width, height, seconds: length, tokens } = settleArk(order, { model, endpoint: asked }, faults);
    return { width, height, seconds: length, images: 0, tokens };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { status, code, message, param } = error;
    throw passedOn(status, { code, message, param, type: 'BadRequest' });
  }
}

function isText(item: unknown): boolean {
  return z.object({ type: z.literal('text') }).safeParse(item).success;
}

/** The bytes, with the key; or a redirect to them. */
function content(job: Job<NewApiDetail>): Reply {
  if (job.phase !== 'succeeded') throw relay(400, 'invalid_request', 'Task is not completed yet');
  if (job.faults.has('url-403')) return problems.forbidden.reply(job.now);
  if (!job.faults.has('content-redirect')) return bytes(200, job.file(), { 'content-type': 'video/mp4' });
  return bytes(302, Buffer.alloc(0), { location: job.links()[0] ?? '' });
}
