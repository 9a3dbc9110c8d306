import { z } from 'zod';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { FaultSet } from '../fault.ts';
import { JobDesk } from '../job-desk.ts';
import { shapeOfSide } from '../shape.ts';
import { momentOf } from '../task.ts';
import type { Task } from '../task.ts';
import { json } from '../wire.ts';
import type { Reply, WireRequest } from '../wire.ts';
import type { World } from '../world.ts';
import { readViduBody, signVidu, ViduError, viduProblems } from './vidu-wire.ts';
import type { ViduWay } from './vidu-wire.ts';

/** Vidu: four ways to a video. */

const detailSchema = z.object({
  width: z.number(),
  height: z.number(),
  seconds: z.number(),
  payload: z.string(),
});
type ViduTask = Task<z.infer<typeof detailSchema>>;

const dayMs = 86_400_000;
const creditsPerSecond = 8;

function tokenOf({ headers }: WireRequest): string | undefined {
  return /^Token (\S+)$/.exec(headers.authorization ?? '')?.[1];
}

export function createViduDialect(world: World): Dialect {
  const [key = 'local'] = world.parts.apiKeys ?? [];
  const desk = new JobDesk(world, {
    name: 'vidu',
    problems: viduProblems,
    detail: detailSchema,
    recordKeptMs: 7 * dayMs,
    callbackBody: (task) => present(task, world),
    callbackHeaders: (_, { callbackUrl = '' }) => signVidu(new URL(callbackUrl), key),
  });
  const submit =
    (way: ViduWay) =>
    ({ request }: Call) => {
      const body = readViduBody(request.body, way);
      return desk.create(request, body, async (submission) => {
        const { payload, duration: seconds, resolution, aspect_ratio: ratio = '16:9' } = body;
        const detail = { ...shapeOfSide(Number.parseInt(resolution, 10), ratio), seconds, payload };
        const id = String(Math.floor(Math.random() * 1e15));
        const order = { id, expiresAfterMs: 2 * dayMs, callbackUrl: body.callback_url, detail };
        const task = await desk.accept(submission, order);
        return json(200, { task_id: id, state: 'created', payload, credits: creditsOf(task) });
      });
    };
  return createDialect(desk, {
    prefix: '/vidu/ent/v2',
    keyOf: tokenOf,
    noSuchRoute: () => new ViduError(404, 'NotFound', 'no such path'),
    routes: {
      'POST /text2video': submit('text2video'),
      'POST /img2video': submit('img2video'),
      'POST /start-end2video': submit('start-end2video'),
      'POST /reference2video': submit('reference2video'),
      'GET /tasks/:id/creations': (call) =>
        desk.about('poll', call, { found: (task) => json(200, present(task, world)) }),
      'POST /tasks/:id/cancel': (call) =>
        desk.about('delete', call, {
          found(task) {
            const { phase } = momentOf(task, world.now());
            if (phase !== 'queued')
              throw new ViduError(400, 'BadRequest', `task state is ${phase}, can not cancel`);
            desk.cancel(task);
            return json(200, {});
          },
        }),
      'GET /tasks': (call) => listed(call, desk, world),
    },
  });
}

/** Without the payload, and without what a job cost or failed of. */
function listed(call: Call, desk: JobDesk<ViduTask['detail']>, world: World): Promise<Reply> {
  const { query } = call.request;
  const ids = query.getAll('task_ids');
  const [from, to] = ['created_at.from', 'created_at.to'].map((name) => Date.parse(query.get(name) ?? ''));
  const isAsked = ({ id, createdAt }: ViduTask) =>
    (ids.length === 0 || ids.includes(id)) && !(createdAt < (from ?? 0)) && !(createdAt > (to ?? 0));
  const asked = desk.newestFirst().filter(isAsked);
  const tasks = asked.slice(0, Number(query.get('pager.pagesz') ?? 10)).map((task) => {
    const { id, model, prompt } = task;
    return { id, model, prompt, state: present(task, world)['state'] };
  });
  return desk.list(call, ids.length === 0 ? [] : asked, () => json(200, { tasks, next_page_token: '' }));
}

const words = {
  queued: 'queueing', running: 'processing', unknown: 'upscaling', succeeded: 'success', failed: 'failed',
  cancelled: 'failed', expired: 'failed',
} as const; // prettier-ignore

function creditsOf({ detail, faults }: ViduTask): number {
  return Math.round(creditsPerSecond * detail.seconds * FaultSet.of(faults).usageFactor());
}

function present(task: ViduTask, world: World): Record<string, unknown> {
  const { phase, since } = momentOf(task, world.now());
  const faults = FaultSet.of(task.faults);
  const failed = faults.has('moderation-in-task') ? 'CreationPolicyViolation' : 'InternalServiceFailure';
  const isOver = words[phase] === 'failed';
  const url = world.link(task, world.video(task.detail, 0, faults), since);
  return {
    id: task.id,
    state: words[phase],
    err_code: isOver ? (phase === 'cancelled' ? 'UserCancelled' : failed) : '',
    payload: task.detail.payload,
    ...(faults.has('missing-usage') ? {} : { credits: creditsOf(task) }),
    creations:
      phase === 'succeeded' && !faults.has('missing-url') ? [{ id: task.id, url, cover_url: url }] : [],
  };
}
