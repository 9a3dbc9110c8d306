import { createHmac, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { dialect, json, parseJson, type Call, type Desk, type Job, type Reply } from '../engine.ts';
import { noSuchModel, notValid, refuseBfl, settleBfl, type BflDetail } from './bfl-request.ts';

type BflJob = Job<BflDetail>;

const keptMs = 86_400_000;
const tasksInFlightMax = 24;
/**
 * The path for polling jobs without a webhook. It names the region that renders the job. The region may differ from the
 * host that received the submission.
 */
const regionPath = '/us1/v1/get_result';
const linkSeconds = { older: 600, third: 3600 } as const;

export const bfl = dialect<BflDetail>({
  name: 'bfl',
  prefix: '/bfl',
  keptMs,
  keyOf: ({ headers }) => z.string().safeParse(headers['x-key']).data,
  mistake: notValid,
  problems: {
    unauthorized: refuseBfl(401, '', 'Not authenticated'),
    forbidden: refuseBfl(403, '', 'Not authenticated - no access to this endpoint'),
    'not-found': noSuchModel,
    'rate-limited': refuseBfl(429, 'rate_limit_exceeded', 'too fast'),
    'quota-exhausted': refuseBfl(402, '', 'Insufficient credits. Please add credits to continue.'),
    internal: refuseBfl(500, '', 'Internal Server Error'),
    unavailable: refuseBfl(503, '', 'The service is under maintenance. Please try again later.'),
  },
  callbackBody: news,
  // We have not verified what the header contains. The simulator sends a signature or, with `docs-shape`, the secret
  // itself.
  callbackHeaders(body, { detail, faults }) {
    const secret = detail.webhook?.secret;
    if (secret === undefined) return {};
    if (faults.has('docs-shape')) return { 'x-webhook-secret': secret };
    return { 'x-bfl-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` };
  },
  routes: (desk) => ({
    'POST /v1/:id': (call) => submit(desk, call),
    'GET /v1/credits': () => json(200, { credits: 100 }),
    'GET /v1/get_result': (call) => result(desk, call),
    [`GET ${regionPath}`]: (call) => result(desk, call),
  }),
});

const outline = z.object({ prompt: z.string().catch(''), user: z.string().catch('') });

function submit(desk: Desk<BflDetail>, { request, id: name }: Call): Promise<Reply> {
  const raw = parseJson(request.body);
  const { prompt = '', user = '' } = outline.safeParse(raw).data ?? {};
  return desk.create(request, { model: name, prompt, endUser: user }, async (submission) => {
    const order = settleBfl(raw, submission.model, submission.faults);
    if (desk.isFull(tasksInFlightMax)) throw refuseBfl(429, '', 'Too many active tasks');
    return json(200, presentCreated(await desk.accept(submission, { id: randomUUID(), ...order })));
  });
}

/** With `poll:sdk-shape*1`, a job is still unknown shortly after it was created. */
function result(desk: Desk<BflDetail>, { request }: Call): Promise<Reply> {
  const id = request.query.get('id');
  if (id === null) throw notValid({ path: 'id', reason: '', isAbsent: true });
  const missing = (): Reply =>
    json(200, { id, status: 'Task not found', result: null, progress: null, details: null });
  const found = (job: BflJob, hidden: boolean): Reply => {
    const isKnownHere = (request.path === regionPath) === (job.detail.webhook === undefined);
    return isKnownHere && !hidden ? json(200, present(job)) : missing();
  };
  return desk.about('poll', { request, id }, (job, faults) => found(job, faults.has('sdk-shape')), missing);
}

function isInputRefused({ faults }: BflJob): boolean {
  return faults.has('item-moderation') || faults.text('moderation-in-task') === 'input';
}

function phaseOf(job: BflJob): BflJob['phase'] {
  const { phase } = job;
  return isInputRefused(job) && (phase === 'running' || phase === 'succeeded') ? 'failed' : phase;
}

function wordOf(job: BflJob): string {
  const { detail, faults } = job;
  const phase = phaseOf(job);
  if (phase === 'succeeded') return 'Ready';
  if (phase === 'unknown') return 'Upscaling';
  if (phase === 'running' && detail.third) return 'Reasoning';
  if (phase === 'queued' || phase === 'running') return 'Pending';
  if (isInputRefused(job)) return 'Request Moderated';
  if (faults.has('moderation-in-task')) return 'Content Moderated';
  return faults.has('docs-shape') ? 'Failed' : 'Error';
}

function presentCreated({ id, task, detail, faults, world }: BflJob): object {
  const cost = detail.pricedLater || faults.has('missing-usage') ? null : detail.cost / 100;
  if (detail.webhook !== undefined) return { id, status: 'Pending', webhook_url: task.callbackUrl, cost };
  // With `docs-shape`, the URL does not contain the id, so the caller must add it.
  const query = faults.has('docs-shape') ? '' : `?id=${id}`;
  const output_mp = Math.round((detail.width * detail.height) / 10_485.76) / 100;
  const pixels = detail.images === undefined ? {} : { input_mp: detail.inputMegapixels, output_mp };
  return { id, polling_url: `${world.parts.origin}/bfl${regionPath}${query}`, cost, ...pixels };
}

/**
 * `GET /v1/get_result` always responds with status 200. With `docs-shape`, `state` contains the status word, and the
 * details are a string.
 */
function present(job: BflJob): object {
  const { detail, faults } = job;
  const isOther = faults.has('docs-shape');
  const isReady = phaseOf(job) === 'succeeded';
  const isPriced = isReady && (!isOther || detail.pricedLater);
  return {
    id: job.id,
    [isOther ? 'state' : 'status']: wordOf(job),
    result: isReady ? resultOf(job) : null,
    progress: null,
    details: failureOf(job, isOther),
    cost: isPriced ? job.reported(job.billed(detail.cost) / 100) : undefined,
  };
}

function failureOf(job: BflJob, asText: boolean): unknown {
  const phase = phaseOf(job);
  if (phase === 'succeeded' || (phase !== 'failed' && !job.isOver)) return null;
  const reason = 'Protected Content';
  if (isInputRefused(job) || job.faults.has('moderation-in-task'))
    return asText ? reason : { 'Moderation Reasons': [reason] };
  const error = phase === 'failed' ? 'An internal error occurred.' : 'The task took too long.';
  return asText ? error : { error };
}

function resultOf(job: BflJob): object {
  const { task, detail } = job;
  const [start_time, end_time] = [job.startsAt / 1000, job.since / 1000];
  const lifetimeSeconds = detail.third ? linkSeconds.third : linkSeconds.older;
  const [sample] = job.links({ lifetimeSeconds, look: { format: detail.format } });
  const duration = end_time - start_time;
  return { sample, prompt: task.prompt, seed: detail.seed, start_time, end_time, duration };
}

function news(job: BflJob): unknown {
  const phase = phaseOf(job);
  if (phase !== 'failed' && !job.isOver) return undefined;
  const timestamp = new Date(job.now).toISOString();
  if (phase === 'succeeded') return { ...present(job), timestamp };
  return { id: job.id, status: 'Error', error: wordOf(job), message: failureOf(job, true), timestamp };
}
