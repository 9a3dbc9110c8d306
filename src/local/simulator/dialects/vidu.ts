import { createHmac, randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Problems } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { Job, rendered, shown } from '../job.ts';
import { JobDesk } from '../job-desk.ts';
import { linesOf, sizeOf } from '../sizes.ts';
import { phaseWords } from '../task.ts';
import { check, json, parseJson, refusals } from '../wire.ts';
import type { Mistake, Reply } from '../wire.ts';
import type { World } from '../world.ts';

/** Vidu: four ways to a video. */

const refuse = refusals(({ status: code, code: reason, message }) =>
  json(code, { code, reason, message, metadata: { trace_id: randomUUID() } }),
);
const refuseField = ({ path, isAbsent }: Mistake) =>
  refuse(400, isAbsent ? 'FieldLacking' : 'FieldInvalid', `invalid field: ${path}`);

const problems = {
  unauthorized: refuse(401, 'Unauthorized', 'invalid token'),
  forbidden: refuse(403, 'Forbidden', 'no access'),
  'not-found': refuse(404, 'TaskNotFound', 'task not found'),
  'rate-limited': refuse(429, 'TooManyRequests', 'too many requests'),
  'quota-exhausted': refuse(400, 'CreditInsufficient', 'credit insufficient'),
  moderated: refuse(400, 'TaskPromptPolicyViolation', 'the prompt violates the policy'),
  internal: refuse(500, 'InternalServiceFailure', 'internal failure'),
  unavailable: refuse(503, 'SystemThrottling', 'the system is busy'),
} satisfies Problems;

const address = z.string().regex(/^(?:https?:\/\/\S+|data:image\/[\w.+-]+;base64,\S+)$/);
/** Closed: what the vendor does not know is refused. */
const bodySchema = z.strictObject({
  model: z.string().min(1),
  prompt: z.string().max(5000).default(''),
  images: z.array(address).default([]),
  duration: z.int().min(1).max(16).default(5),
  resolution: z.enum(['360p', '540p', '720p', '1080p']).default('720p'),
  aspect_ratio: z.enum(['16:9', '9:16', '1:1', '4:3', '3:4']).optional(),
  seed: z.int().optional(),
  audio: z.boolean().optional(),
  watermark: z.boolean().optional(),
  movement_amplitude: z.enum(['auto', 'small', 'medium', 'large']).optional(),
  payload: z.string().max(1_048_576).default(''),
  callback_url: z.url().optional(),
});
/** How many images each way to a video takes, and whether it takes a ratio: the fields of its body. */
const ways = {
  text2video: { least: 0, most: 0, takesRatio: true },
  img2video: { least: 1, most: 1, takesRatio: false },
  'start-end2video': { least: 2, most: 2, takesRatio: false },
  reference2video: { least: 1, most: 7, takesRatio: true },
};

const detailSchema = z.object({ ...rendered, payload: z.string() });
type ViduDetail = z.infer<typeof detailSchema>;
type ViduDesk = JobDesk<ViduDetail>;

const dayMs = 86_400_000;
const creditsPerSecond = 8;

export function createViduDialect(world: World): Dialect {
  const [key = 'local'] = world.parts.apiKeys ?? [];
  const desk: ViduDesk = new JobDesk(world, {
    name: 'vidu',
    problems,
    detail: detailSchema,
    recordKeptMs: 7 * dayMs,
    callbackBody: (task) => present(new Job(task, world)),
    callbackHeaders: (_, { callbackUrl = '' }) => sign(new URL(callbackUrl), key),
  });
  const submits = Object.entries(ways).map(
    ([path, way]) => [`POST /${path}`, (call: Call) => submit(desk, call, way)] as const,
  );
  return createDialect(desk, {
    prefix: '/vidu/ent/v2',
    keyOf: ({ headers }) => /^Token (\S+)$/.exec(headers.authorization ?? '')?.[1],
    noSuchRoute: () => refuse(404, 'NotFound', 'no such path'),
    routes: {
      ...Object.fromEntries(submits),
      'GET /tasks/:id/creations': (call) => desk.about('poll', call, shown(world, present)),
      'POST /tasks/:id/cancel': (call) =>
        desk.about('delete', call, {
          found(task) {
            const { phase } = new Job(task, world);
            if (phase !== 'queued') throw refuse(400, 'BadRequest', `task state is ${phase}, can not cancel`);
            desk.cancel(task);
            return json(200, {});
          },
        }),
      'GET /tasks': (call) => list(desk, call),
    },
  });
}

function submit(desk: ViduDesk, { request }: Call, way: (typeof ways)[keyof typeof ways]): Promise<Reply> {
  const body = check(bodySchema, parseJson(request.body), refuseField);
  const { images, aspect_ratio: ratio, payload, duration: seconds, resolution } = body;
  if (images.length < way.least || images.length > way.most)
    throw refuse(400, 'FieldItemCountOutOfRange', 'invalid field: images');
  if (ratio !== undefined && !way.takesRatio)
    throw refuse(400, 'FieldUnwanted', 'unwanted field: aspect_ratio');
  return desk.create(request, body, async (submission) => {
    const detail = { ...sizeOf(linesOf(resolution), ratio ?? '16:9'), seconds, images: 0, payload };
    const id = String(randomInt(1e14));
    const order = { id, expiresAfterMs: 2 * dayMs, callbackUrl: body.callback_url, detail };
    const job = new Job(await desk.accept(submission, order), desk.world);
    return json(200, { task_id: id, state: 'created', payload, credits: creditsOf(job) });
  });
}

/** Without the payload, and without what a job cost or failed of. */
function list(desk: ViduDesk, call: Call): Promise<Reply> {
  const { query } = call.request;
  const ids = query.getAll('task_ids');
  const time = (name: string) => Date.parse(query.get(name) ?? '');
  const [from, to] = [time('created_at.from'), time('created_at.to')];
  const asked = desk
    .newestFirst()
    .filter(({ id }) => ids.length === 0 || ids.includes(id))
    .filter(({ createdAt }) => !(createdAt < from) && !(createdAt > to));
  const tasks = asked.slice(0, Number(query.get('pager.pagesz') ?? 10)).map((task) => {
    const { id, model, prompt } = task;
    return { id, model, prompt, state: wordFor(new Job(task, desk.world).phase) };
  });
  return desk.list(call, ids.length === 0 ? [] : asked, () => json(200, { tasks, next_page_token: '' }));
}

const wordFor = phaseWords('queueing processing success failed failed failed upscaling');

function creditsOf(job: Job<ViduDetail>): number {
  return Math.round(job.billed(creditsPerSecond * job.detail.seconds));
}

function present(job: Job<ViduDetail>): Record<string, unknown> {
  const { task, detail, phase, faults } = job;
  const failed = faults.has('moderation-in-task') ? 'CreationPolicyViolation' : 'InternalServiceFailure';
  const state = wordFor(phase);
  const urls = phase === 'succeeded' ? job.links() : [];
  return {
    id: task.id,
    state,
    err_code: state === 'failed' ? (phase === 'cancelled' ? 'UserCancelled' : failed) : '',
    payload: detail.payload,
    credits: job.reported(creditsOf(job)),
    creations: urls.map((url) => ({ id: task.id, url, cover_url: url })),
  };
}

/** The body is not signed. */
function sign({ pathname, search }: URL, key: string): Record<string, string> {
  const [date, nonce] = [new Date().toUTCString(), randomUUID()];
  const text = `POST\n${pathname}\n${search.slice(1)}\nvidu\n${date}\nDate:${date}\nx-request-nonce:${nonce}\n`;
  return {
    date,
    'x-request-nonce': nonce,
    'x-hmac-algorithm': 'hmac-sha256',
    'x-hmac-access-key': 'vidu',
    'x-hmac-signed-headers': 'Date;x-request-nonce',
    'x-hmac-signature': createHmac('sha256', key).update(text).digest('base64'),
  };
}
