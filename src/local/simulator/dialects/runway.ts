import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Problems } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { FaultSet } from '../fault.ts';
import { JobDesk } from '../job-desk.ts';
import { rendered, shown } from '../job.ts';
import type { Job } from '../job.ts';
import { linesOf, pairIn, sizeOf } from '../sizes.ts';
import type { Size } from '../sizes.ts';
import { isFinal, momentOf, phaseWords } from '../task.ts';
import type { Task } from '../task.ts';
import { bytes, check, json, parseJson, refusals } from '../wire.ts';
import type { Mistake, Reply } from '../wire.ts';
import type { World } from '../world.ts';
import { runwayBody } from './runway-body.ts';
import type { RunwayBody } from './runway-body.ts';

const version = '2024-11-06';
/** Neither is documented: records outlive everything that is tried here. */
const recordKeptMs = 30 * 86_400_000;
const expiresAfterMs = 2 * recordKeptMs;
const linkSeconds = 86_400;
/** Jobs of one model that run at a time; what is above waits as THROTTLED, and is not an error. */
const slots = 20;
/** A stand-in for the prices of the models: of a second, and of an image. */
const creditsPerSecond = 20;
const creditsPerImage = 5;

/** An error body has a text, and no code; of a field, an issue. */
const refuse = refusals(({ status, code, message, param }) => {
  if (code === '') return json(status, { error: message });
  const issues = [{ path: param.split('.'), message }];
  return json(status, { error: 'Validation of body failed', docUrl: 'https://docs.example/errors', issues });
});
const refuseField = ({ path, reason }: Mistake) => refuse(400, 'field', reason, path);

/** No `moderated`: the content is inspected when the job runs. 429 is the quota of the day only. */
const problems = {
  unauthorized: refuse(401, '', 'The API key is invalid or disabled.'),
  forbidden: refuse(403, '', 'You do not have access to this resource.'),
  'not-found': refuse(404, '', 'Task not found.'),
  'rate-limited': refuse(429, '', 'You have reached the daily generation limit of this model.'),
  'quota-exhausted': refuse(400, '', 'You do not have enough credits to run this task.'),
  internal: refuse(500, '', 'Internal server error.'),
  unavailable: refuse(503, '', 'Service unavailable.'),
} satisfies Problems;

const runwayDetail = z.object({ ...rendered, credits: z.number() });
type RunwayDetail = z.infer<typeof runwayDetail>;
type RunwayDesk = JobDesk<RunwayDetail>;

const paths = ['text_to_video', 'image_to_video', 'video_to_video', 'text_to_image'];

/** Runway: videos and images as jobs, without list, callback or marker. */
export function createRunwayDialect(world: World): Dialect {
  const desk = new JobDesk(world, { name: 'runway', problems, detail: runwayDetail, recordKeptMs });
  const versioned = (handle: (call: Call) => Promise<Reply>) => (call: Call) => {
    if (call.request.headers['x-runway-version'] !== version)
      throw refuse(400, '', `The X-Runway-Version header is required: ${version}.`);
    return handle(call);
  };
  const isThrottled = (task: Task<RunwayDetail>) => runningBefore(desk, task) >= slots;
  return createDialect(desk, {
    prefix: '/runway',
    noSuchRoute: ({ method, path }) =>
      paths.some((known) => path === `/v1/${known}`)
        ? refuse(405, '', 'Method not allowed.')
        : refuse(404, '', `Cannot ${method} ${path}`),
    routes: {
      ...Object.fromEntries(
        paths.map((path) => [`POST /v1/${path}`, versioned((call) => submit(desk, call, path))]),
      ),
      'GET /v1/tasks/:id': versioned((call) =>
        desk.about(
          'poll',
          call,
          shown(world, (job) => present(job, isThrottled(job.task))),
        ),
      ),
      'DELETE /v1/tasks/:id': versioned((call) =>
        desk.about('delete', call, { found: (task) => remove(desk, task) }),
      ),
    },
  });
}

/** Its own models, and those of other vendors. */
const families =
  /^(?:gen4|aleph|veo|gemini_|gpt_|seed|happyhorse|wan|grok_|hailuo|h3_|kling|muse_|a_model_of_)/;
const outline = z.object({ model: z.string(), promptText: z.string().catch('') });

function submit(desk: RunwayDesk, { request }: Call, path: string): Promise<Reply> {
  const raw = parseJson(request.body);
  const { model, promptText: prompt } = check(outline, raw, refuseField);
  return desk.create(request, { model, prompt }, async (submission) => {
    const { faults } = submission;
    if (!families.test(submission.model)) throw refuse(400, 'field', 'Invalid discriminator value', 'model');
    const detail = settle(check(runwayBody, raw, refuseField), path, faults);
    const task = await desk.accept(submission, { id: randomUUID(), expiresAfterMs, detail });
    const { credits } = detail;
    return json(200, { id: task.id, ...(faults.has('missing-usage') ? {} : { estimatedCost: { credits } }) });
  });
}

function settle(body: RunwayBody, path: string, faults: FaultSet): RunwayDetail {
  const images = path === 'text_to_image' ? (body.outputCount ?? 1) : 0;
  const asInput = path === 'video_to_video' ? faults.number('input-seconds') : undefined;
  const asked = body.duration === 'auto' ? undefined : body.duration;
  const seconds = images > 0 ? 0 : (asked ?? asInput ?? 5);
  const credits = images * creditsPerImage + seconds * creditsPerSecond;
  return { ...sizeIn(body), seconds, images, credits };
}

/** Of a pair of pixels; or of a resolution, which may stand where the ratio does. */
function sizeIn({ ratio = '1280:720', resolution = ratio.replace('auto_', '') }: RunwayBody): Size {
  const pair = pairIn(ratio);
  return pair !== undefined && pair.width > 64 ? pair : sizeOf(linesOf(resolution), ratio);
}

/** Cancels what has not ended and deletes the rest. Afterwards it is gone, or with docs-shape shown as CANCELLED. */
function remove(desk: RunwayDesk, task: Task<RunwayDetail>): Reply {
  const isOver = isFinal(momentOf(task, desk.world.now()).phase);
  const isShown = FaultSet.of(task.faults).has('docs-shape');
  if (isOver || !isShown) desk.remove(task);
  else desk.cancel(task);
  return bytes(204, Buffer.alloc(0), {});
}

/** Only the age counts: who came first runs first. */
function runningBefore(desk: RunwayDesk, task: Task<RunwayDetail>): number {
  return desk
    .newestFirst()
    .filter(({ model, createdAt }) => model === task.model && createdAt <= task.createdAt)
    .filter((other) => other.id !== task.id && momentOf(other, desk.world.now()).phase === 'running').length;
}

const wordFor = phaseWords('PENDING RUNNING SUCCEEDED FAILED FAILED CANCELLED POST_PROCESSING');

function present(job: Job<RunwayDetail>, isThrottled: boolean): Record<string, unknown> {
  const { task, detail, phase, faults, now } = job;
  const { credits } = detail;
  const base = { id: task.id, createdAt: new Date(task.createdAt).toISOString(), status: wordFor(phase) };
  const estimatedCost = job.reported({ credits });
  const cost = (amount: number) => job.reported({ credits: amount });
  switch (phase) {
    case 'queued':
      return { ...base, status: isThrottled ? 'THROTTLED' : base.status, estimatedCost };
    case 'running':
      return { ...base, estimatedCost, progress: Math.round(job.progress() * 100) / 100 };
    case 'unknown':
      return base;
    case 'cancelled':
      return { ...base, cost: cost(0) };
    case 'succeeded': {
      // Fresh links at each question.
      const output = job.links({ lifetimeSeconds: linkSeconds, from: now });
      return { ...base, output, cost: cost(job.billed(credits)) };
    }
    case 'failed':
    case 'expired':
      return { ...base, ...failureOf(faults), cost: cost(isInputRefused(faults) ? credits : 0) };
  }
}

/** Refused inputs are charged, as documented; the rest is not. */
function isInputRefused(faults: FaultSet): boolean {
  return faults.text('moderation-in-task') === 'input';
}

/** `failed=<code>` names another code of the vendor. */
function failureOf(faults: FaultSet): { failure: string; failureCode: string } {
  if (isInputRefused(faults))
    return { failure: 'The input did not pass content moderation.', failureCode: 'SAFETY.INPUT.TEXT' };
  if (faults.has('moderation-in-task'))
    return { failure: 'The output did not pass content moderation.', failureCode: 'SAFETY.OUTPUT.VIDEO' };
  const failureCode = faults.text('failed') ?? 'INTERNAL.BAD_OUTPUT.CODE01';
  return { failure: 'An unexpected error occurred.', failureCode };
}
