import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Submission } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { JobDesk } from '../job-desk.ts';
import { isFinal } from '../task.ts';
import { json, parseJson } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import { bflProblems, noSuchBflRoute, tooManyTasks } from './bfl-error.ts';
import { settleFlux3Image, settleFlux3Video } from './bfl-flux3.ts';
import { bflDetail, bflImageModels } from './bfl-models.ts';
import type { BflDetail } from './bfl-models.ts';
import { absent, settleBflImage } from './bfl-request.ts';
import { bflMoment, bflNews, isKnownAt, presentBfl, presentBflCreated } from './bfl-task.ts';
import { presentBflUnknown, signBflNews } from './bfl-task.ts';

const recordKeptMs = 86_400_000;
/** No deadline of the vendor's is documented. */
const expiresAfterMs = 2 * recordKeptMs;
/** Jobs in flight of one account; above it a create is refused. */
const tasksInFlightMax = 24;

/** What is read before anything is checked. */
const outline = z.looseObject({ prompt: z.string().catch(''), user: z.string().catch('') });

/** Black Forest Labs: images and videos, each as a job. */
export function createBflDialect(world: World): Dialect {
  const desk: JobDesk<BflDetail> = new JobDesk(world, {
    name: 'bfl',
    problems: bflProblems,
    detail: bflDetail,
    recordKeptMs,
    callbackBody: (task) => bflNews(task, world),
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
  const raw = parseJson(request.body) ?? {};
  const { prompt = '', user = '' } = outline.safeParse(raw).data ?? {};
  return desk.create(request, { model: name, prompt, endUser: user }, async (submission) => {
    const { detail, callbackUrl } = settle(raw, submission);
    const active = desk.newestFirst().filter((task) => !isFinal(bflMoment(task, world.now()).phase));
    if (active.length >= (desk.world.parts.jobsAtOnceMax ?? tasksInFlightMax)) throw tooManyTasks;
    const task = await desk.accept(submission, { id: randomUUID(), expiresAfterMs, detail, callbackUrl });
    return json(200, presentBflCreated(task, world));
  });
}

function settle(
  raw: unknown,
  { model, faults }: Submission,
): { detail: BflDetail; callbackUrl?: string | undefined } {
  if (model === 'flux-3-image') return { detail: settleFlux3Image(raw, faults) };
  if (model === 'flux-3-video') return { detail: settleFlux3Video(raw, faults) };
  const found = bflImageModels.get(model);
  if (found === undefined) throw noSuchBflRoute;
  return settleBflImage(raw, found);
}

/** A job is unknown for a moment after its create with `poll:sdk-shape*1`. */
function result(desk: JobDesk<BflDetail>, { request }: Call): Promise<Reply> {
  const id = request.query.get('id');
  if (id === null) throw absent('id');
  const missing = (): Reply => json(200, presentBflUnknown(id));
  return desk.about(
    'poll',
    { request, id },
    {
      found: (task, faults) =>
        isKnownAt(task, request.path) && !faults.has('sdk-shape')
          ? json(200, presentBfl(task, desk.world))
          : missing(),
      missing,
    },
  );
}
