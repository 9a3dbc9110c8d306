import { createHmac, randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { dialect, json, linesOf, link, media, phaseWords, refusals, sizeOf, taken } from '../engine.ts';
import type { Call, Desk, Job, Rendered, Reply } from '../engine.ts';

const refuse = refusals(({ status: code, code: reason, message }) =>
  json(code, { code, reason, message, metadata: { trace_id: randomUUID() } }),
);

const bodySchema = z.strictObject({
  ...taken({ int: 'seed', flag: 'audio watermark', text: 'movement_amplitude' }),
  model: z.string().min(1),
  prompt: z.string().default(''),
  images: z.array(media).default([]),
  duration: z.int().default(5),
  resolution: z.string().default('720p'),
  aspect_ratio: z.string().optional(),
  payload: z.string().default(''),
  callback_url: link.optional(),
});
const ways = {
  text2video: { least: 0, most: 0, takesRatio: true },
  img2video: { least: 1, most: 1, takesRatio: false },
  'start-end2video': { least: 2, most: 2, takesRatio: false },
  reference2video: { least: 1, most: 7, takesRatio: true },
};

type Detail = Rendered & { readonly payload: string };

const creditsPerSecond = 8;

export const vidu = dialect<Detail>({
  name: 'vidu',
  prefix: '/vidu/ent/v2',
  keyOf: ({ headers }) => /^Token (\S+)$/.exec(headers.authorization ?? '')?.[1],
  mistake: ({ path, isAbsent }) =>
    refuse(400, isAbsent ? 'FieldLacking' : 'FieldInvalid', `invalid field: ${path}`),
  noSuchRoute: () => refuse(404, 'NotFound', 'no such path'),
  problems: {
    unauthorized: refuse(401, 'Unauthorized', 'invalid token'),
    forbidden: refuse(403, 'Forbidden', 'no access'),
    'not-found': refuse(404, 'TaskNotFound', 'task not found'),
    'rate-limited': refuse(429, 'TooManyRequests', 'too many requests'),
    'quota-exhausted': refuse(400, 'CreditInsufficient', 'credit insufficient'),
    moderated: refuse(400, 'TaskPromptPolicyViolation', 'the prompt violates the policy'),
    internal: refuse(500, 'InternalServiceFailure', 'internal failure'),
    unavailable: refuse(503, 'SystemThrottling', 'the system is busy'),
  },
  callbackBody: present,
  callbackHeaders: (_, { world, task }) => {
    const [key = 'local'] = world.parts.apiKeys ?? [];
    return sign(new URL(task.callbackUrl ?? ''), key);
  },
  routes: (desk) => ({
    ...Object.fromEntries(Object.entries(ways).map(([path, way]) => [`POST /${path}`, submit(desk, way)])),
    'GET /tasks/:id/creations': desk.shows(present),
    'GET /credits': () => json(200, { remains: [{ type: 'metered', credit_remain: 100 }] }),
    'POST /tasks/:id/cancel': (call) =>
      desk.about('delete', call, (job) => {
        if (job.phase !== 'queued')
          throw refuse(400, 'BadRequest', `task state is ${job.phase}, can not cancel`);
        desk.cancel(job);
        return json(200, {});
      }),
    'GET /tasks': (call) => list(desk, call),
  }),
});

function submit(desk: Desk<Detail>, way: (typeof ways)[keyof typeof ways]) {
  return desk.creates(
    bodySchema.check(({ value, issues }) => {
      const { images, aspect_ratio: ratio } = value;
      const isWrong = images.length < way.least || images.length > way.most;
      if (isWrong) issues.push({ code: 'custom', input: images, path: ['images'] });
      if (ratio !== undefined && !way.takesRatio)
        issues.push({ code: 'custom', input: ratio, path: ['aspect_ratio'] });
    }),
    ({ aspect_ratio: ratio = '16:9', payload, duration: seconds, resolution, callback_url: callbackUrl }) => {
      const detail = { ...sizeOf(linesOf(resolution), ratio), seconds, payload };
      return { id: String(randomInt(1e14)), callbackUrl, detail };
    },
    (job) => {
      const { payload } = job.detail;
      return json(200, { task_id: job.id, state: 'created', payload, credits: creditsOf(job) });
    },
  );
}

function list(desk: Desk<Detail>, call: Call): Promise<Reply> {
  const { query } = call.request;
  const ids = query.getAll('task_ids');
  const time = (name: string) => Date.parse(query.get(name) ?? '');
  const [from, to] = [time('created_at.from'), time('created_at.to')];
  const asked = desk
    .newestFirst()
    .filter(({ id }) => ids.length === 0 || ids.includes(id))
    .filter(({ task }) => !(task.createdAt < from) && !(task.createdAt > to));
  const tasks = asked
    .slice(0, Number(query.get('pager.pagesz') ?? 10))
    .map(({ id, model, task, phase }) => ({ id, model, prompt: task.prompt, state: wordFor(phase) }));
  return desk.list(call, ids.length === 0 ? [] : asked, () => json(200, { tasks, next_page_token: '' }));
}

const wordFor = phaseWords('queueing processing success failed failed failed upscaling');

function creditsOf(job: Job<Detail>): number {
  return Math.round(job.billed(creditsPerSecond * job.detail.seconds));
}

function present(job: Job<Detail>): object {
  const { id, detail, phase, faults } = job;
  const failed = faults.has('moderation-in-task') ? 'CreationPolicyViolation' : 'InternalServiceFailure';
  const state = wordFor(phase);
  const urls = phase === 'succeeded' ? job.links() : [];
  const err_code = state === 'failed' ? (phase === 'cancelled' ? 'UserCancelled' : failed) : '';
  const creations = urls.map((url) => ({ id, url, cover_url: url }));
  return { id, state, err_code, payload: detail.payload, credits: job.reported(creditsOf(job)), creations };
}

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
