import { randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { bearerToken, dialect, inSeconds, json, linesOf, link, pageNumber, refusals } from '../engine.ts';
import { sizeOf } from '../engine.ts';
import { taken, word } from '../engine.ts';
import type { Call, Desk, FaultSet, Job, Reply, WireRequest } from '../engine.ts';
import type { World } from '../world.ts';

const knownForMs = 7 * 86_400_000;
const linkSeconds = 6 * 3600;
const tokensPerSecond = 52_078;
const tokensPerPrompt = 13_500;

const types: Readonly<Record<number, string>> = {
  400: 'bad_request_error',
  401: 'authorized_error',
  402: 'insufficient_balance_error',
  404: 'bad_request_error',
  422: 'unprocessable_entity_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** Unlike v1, uses real HTTP statuses. The message ends with the code in parentheses. */
const refuse = refusals(({ status, code, message }) => {
  const text = code === '' ? message : `${message} (${code})`;
  const error = { type: types[status] ?? 'server_error', message: text, http_code: String(status) };
  return json(status, { type: 'error', error, request_id: randomUUID().replaceAll('-', '') });
});
const invalid = (message: string) => refuse(400, 2013, `invalid params, ${message}`);

export const noMiniMaxRoute = ({ method, path }: WireRequest) =>
  refuse(404, '', `no such path: ${method} ${path}`);

const echoSchema = z.object({ challenge: z.string() });

/** Returns the URL if its receiver echoed the challenge in time. No other URL is ever called. */
export async function confirmedCallback(
  url: string | undefined,
  { parts }: World,
): Promise<string | undefined> {
  if (url === undefined) return undefined;
  const challenge = randomUUID();
  const answer = await parts.callbacks.ask(url, JSON.stringify({ challenge }), 3000);
  return echoSchema.safeParse(answer).data?.challenge === challenge ? url : undefined;
}

const address = (type: string) =>
  z.strictObject({
    url: z.string().regex(new RegExp(`^(?:https?://|mm_file://|data:${type}/[a-z0-9.+-]+;base64,).`)),
  });
const item = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().trim().min(1) }),
  z.strictObject({
    type: z.literal('image_url'),
    image_url: address('image'),
    role: z.enum(['first_frame', 'last_frame', 'reference_image']).optional(),
  }),
  z.strictObject({ type: z.literal('video_url'), video_url: address('video'), role: z.literal('reference_video') }),
  z.strictObject({ type: z.literal('audio_url'), audio_url: address('audio'), role: z.literal('reference_audio') }),
]); // prettier-ignore
const bodySchema = z.strictObject({
  ...taken({ flag: 'aigc_watermark' }),
  model: z.string(),
  content: z.array(item).min(1),
  resolution: word('480P 768P 2K'),
  duration: z.int(),
  ratio: z.string().default('adaptive'),
  extra: z.strictObject(taken({ text: 'prompt_expansion_mode' })).optional(),
  callback_url: link.optional(),
});

type Detail = ReturnType<typeof settle>;

export const miniMax = dialect<Detail>({
  name: 'minimax',
  prefix: '/minimax/v2',
  keptMs: knownForMs,
  knownForMs,
  mistake: ({ path, reason }) => invalid(`${path}: ${reason}`),
  noSuchRoute: noMiniMaxRoute,
  problems: {
    unauthorized: refuse(401, 1004, 'login fail: Please carry the API secret key'),
    forbidden: refuse(401, 2049, 'invalid api key'),
    'not-found': invalid('invalid task_id'),
    'rate-limited': refuse(429, 1002, 'rate limit exceeded'),
    'quota-exhausted': refuse(402, 1008, 'insufficient balance'),
    moderated: refuse(422, 1026, 'video description contains sensitive content'),
    internal: refuse(500, 1000, 'unknown error'),
    unavailable: refuse(529, '', 'the server cluster is currently under high load'),
  },
  // We have not verified the envelope of a callback. The simulator uses the same envelope as for a query or, with
  // `docs-shape`, none.
  callbackBody: (job) => (job.faults.has('docs-shape') ? present(job) : { task: present(job) }),
  routes: (desk) => ({
    'POST /video_generation': (call) => submit(desk, call),
    'GET /query/video_generation': (call) => list(desk, call),
    'GET /query/video_generation/:id': desk.shows((job) => ({ task: present(job) })),
    'DELETE /video_generation/:id': (call) => desk.about('delete', call, (job) => remove(desk, job)),
  }),
});

function submit(desk: Desk<Detail>, { request }: Call): Promise<Reply> {
  const body = desk.read(bodySchema, request);
  const texts = body.content.flatMap((each) => (each.type === 'text' ? [each.text] : []));
  return desk.create(request, { model: body.model, prompt: texts.join('\n') }, async (submission) => {
    const { model, faults } = submission;
    if (!/^MiniMax-H\d/.test(model)) throw invalid(`unknown model: ${model}`);
    // We have not verified the status for an exhausted plan. The simulator responds with 402 or, with `docs-shape`,
    // 429.
    if (bearerToken(request)?.startsWith('sk-cp-') === true)
      throw refuse(faults.has('docs-shape') ? 429 : 402, 2056, 'usage limit exceeded');
    const callbackUrl = await confirmedCallback(body.callback_url, desk.world);
    const id = `${randomInt(100_000_000, 999_999_999)}${randomInt(100_000, 999_999)}`;
    await desk.accept(submission, { id, detail: settle(body, faults), callbackUrl });
    return json(200, { task_id: id });
  });
}

function settle(body: z.infer<typeof bodySchema>, faults: FaultSet) {
  const { content, resolution, duration: seconds } = body;
  const count = (type: string) => content.filter((each) => each.type === type).length;
  const hasFrames = content.some((each) => each.type === 'image_url' && each.role !== 'reference_image');
  const isOpen = hasFrames || body.ratio === 'adaptive';
  const ratio = isOpen ? (faults.text('ratio') ?? '16:9') : body.ratio;
  return {
    ...sizeOf(linesOf(resolution), ratio),
    seconds,
    resolution,
    ratio,
    inputSeconds: faults.number('input-seconds') ?? count('video_url') * 5,
    inputImages: count('image_url'),
    inputAudios: count('audio_url'),
  };
}

function wordOf({ phase }: Job<Detail>): string {
  return phase === 'unknown' ? 'postprocessing' : phase;
}

function present(job: Job<Detail>): object {
  const { task, phase, since, now } = job;
  const { resolution, ratio, seconds: duration } = job.detail;
  const head = { id: job.id, model: job.model, status: wordOf(job) };
  const times = { created_at: inSeconds(task.createdAt), updated_at: inSeconds(since) };
  const tail = { ...times, task_type: 'generation', modality: 'video' };
  if (phase === 'failed') return { ...head, error: errorOf(job), usage: {}, ...tail };
  if (phase !== 'succeeded') return { ...head, ...tail };
  const [url] = job.links({ lifetimeSeconds: linkSeconds, from: now });
  const content = url === undefined ? undefined : { url };
  return { ...head, content, resolution, duration, ratio, usage: job.reported(usageOf(job)), ...tail };
}

function errorOf({ faults }: Job<Detail>): object {
  const cause = faults.has('moderation-in-task') ? (faults.text('moderation-in-task') ?? 'output') : '';
  const errors: Readonly<Record<string, readonly [number, string]>> = {
    input: [1026, 'input new_sensitive'],
    output: [1027, 'output new_sensitive'],
  };
  const [code, message] = errors[cause] ?? [1000, 'unknown error'];
  return { code: faults.has('docs-shape') ? code : String(code), message };
}

function usageOf(job: Job<Detail>): object {
  const { seconds, inputSeconds, inputImages, inputAudios } = job.detail;
  const output = Math.ceil(job.billed(seconds));
  const completion_tokens = output * tokensPerSecond;
  return {
    total_seconds: inputSeconds + output,
    input_seconds: inputSeconds,
    output_seconds: output,
    input_image_count: inputImages,
    input_audio_seconds: inputAudios * 6,
    total_tokens: tokensPerPrompt + completion_tokens,
    prompt_tokens: tokensPerPrompt,
    completion_tokens,
  };
}

function remove(desk: Desk<Detail>, job: Job<Detail>): Reply {
  const isShort = job.faults.has('docs-shape');
  if (job.phase === 'queued') {
    desk.cancel(job);
    return json(200, { task_id: job.id, action: isShort ? 'cancel' : 'cancelled', status: 'cancelled' });
  }
  if (!job.isOver || job.phase === 'cancelled')
    throw invalid(`a task that is ${wordOf(job)} can be neither cancelled nor deleted`);
  desk.remove(job);
  return json(200, { task_id: job.id, action: isShort ? 'delete' : 'deleted', status: wordOf(job) });
}

function list(desk: Desk<Detail>, call: Call): Promise<Reply> {
  const { query } = call.request;
  const refusal = invalid('page_num and page_size must be positive');
  const [page, size] = [
    pageNumber(query, 'page_num', 1, refusal),
    pageNumber(query, 'page_size', 20, refusal),
  ];
  const wanted = query.getAll('filter.task_ids');
  const matching = desk.newestFirst().filter((job) => {
    const facts = { status: wordOf(job), model: job.model, task_type: 'generation' };
    if (wanted.length > 0 && !wanted.includes(job.id)) return false;
    return Object.entries(facts).every(([name, fact]) => (query.get(`filter.${name}`) ?? fact) === fact);
  });
  const items = matching.slice((page - 1) * size, page * size).map(present);
  return desk.list(call, wanted.length > 0 ? matching : [], () =>
    json(200, { items, total: matching.length }),
  );
}
