import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { JobDesk } from '../job-desk.ts';
import { Job } from '../job.ts';
import { isFinal } from '../task.ts';
import { json, parseJson } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import { bflDetail, bflProblems, noSuchBflRoute, notValid, settleBfl, tooManyTasks } from './bfl-request.ts';
import type { BflDetail } from './bfl-request.ts';
import {
  bflNews,
  isKnownAt,
  phaseOfBfl,
  presentBfl,
  presentBflCreated,
  presentBflUnknown,
  signBflNews,
} from './bfl-task.ts';

const recordKeptMs = 86_400_000;
/** No deadline of the vendor's is documented. */
const expiresAfterMs = 2 * recordKeptMs;
/** Jobs in flight of one account; above it a create is refused. */
const tasksInFlightMax = 24;

/** What is read before anything is checked. */
const outline = z.object({ prompt: z.string().catch(''), user: z.string().catch('') });

/** Black Forest Labs: images and videos, each as a job. */
export function createBflDialect(world: World): Dialect {
  const desk: JobDesk<BflDetail> = new JobDesk(world, {
    name: 'bfl',
    problems: bflProblems,
    detail: bflDetail,
    recordKeptMs,
    callbackBody: (task) => bflNews(new Job(task, world)),
    callbackHeaders: signBflNews,
  });
  return createDialect(desk, {
    prefix: '/bfl',
    keyOf: ({ headers }) => z.string().safeParse(headers['x-key']).data,
    noSuchRoute: () => noSuchBflRoute,
    routes: {
      'POST /v1/:id': (call) => submit(desk, call),
      'GET /v1/get_result': (call) => result(desk, call),
      'GET /us1/v1/get_result': (call) => result(desk, call),
    },
  });
}

function submit(desk: JobDesk<BflDetail>, { request, id: name }: Call): Promise<Reply> {
  const { world } = desk;
  const raw = parseJson(request.body);
  const { prompt = '', user = '' } = outline.safeParse(raw).data ?? {};
  return desk.create(request, { model: name, prompt, endUser: user }, async (submission) => {
    const order = settleBfl(raw, submission.model, submission.faults);
    const active = desk.newestFirst().filter((task) => !isFinal(phaseOfBfl(new Job(task, world))));
    if (active.length >= (world.parts.jobsAtOnceMax ?? tasksInFlightMax)) throw tooManyTasks;
    const task = await desk.accept(submission, { id: randomUUID(), expiresAfterMs, ...order });
    return json(200, presentBflCreated(new Job(task, world)));
  });
}

/** A job is unknown for a moment after its create with `poll:sdk-shape*1`. */
function result(desk: JobDesk<BflDetail>, { request }: Call): Promise<Reply> {
  const id = request.query.get('id');
  if (id === null) throw notValid({ path: 'id', reason: '', isAbsent: true });
  const missing = (): Reply => json(200, presentBflUnknown(id));
  return desk.about(
    'poll',
    { request, id },
    {
      found(task, faults) {
        const job = new Job(task, desk.world);
        return isKnownAt(job, request.path) && !faults.has('sdk-shape')
          ? json(200, presentBfl(job))
          : missing();
      },
      missing,
    },
  );
}
