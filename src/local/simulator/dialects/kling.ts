import { randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { JobDesk } from '../job-desk.ts';
import { Job } from '../job.ts';
import { signStandardWebhook } from '../standard-webhooks.ts';
import { isFinal, momentOf } from '../task.ts';
import type { Task } from '../task.ts';
import { check, json, parseJson } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import { klingCallbackSecret, klingKey } from './kling-key.ts';
import {
  badParameter,
  klingDetail,
  klingError,
  klingProblems,
  readKling,
  readLegacyKling,
  refuseKling,
} from './kling-request.ts';
import type { KlingDetail, KlingOrder } from './kling-request.ts';
import { presentCreated, presentKling, wordOf } from './kling-task.ts';

type KlingTask = Task<KlingDetail>;
type KlingDesk = JobDesk<KlingDetail>;

const recordKeptMs = 30 * 86_400_000;
const expiresAfterMs = 2 * recordKeptMs;
/** Jobs of one model that run at a time; above it a submit is refused. An image takes a slot for each picture. */
const slots = 100;
const legacyServices = [
  ...['text2video', 'image2video', 'multi-image2video', 'omni-video'].map(
    (name) => ['videos', name] as const,
  ),
  ...['generations', 'omni-image'].map((name) => ['images', name] as const),
];

/** Kling: the new standard, and the legacy one below `/v1`. */
export function createKlingDialect(world: World): Dialect {
  const desk: KlingDesk = new JobDesk(world, {
    name: 'kling',
    problems: klingProblems,
    detail: klingDetail,
    recordKeptMs,
    // The bare task, not the envelope.
    callbackBody: (task) => presentKling(new Job(task, world)),
    callbackHeaders: (body) => signStandardWebhook(klingCallbackSecret, body),
  });
  const submits = ['text-to-video', 'image-to-video', 'omni-video', 'motion-control'].map(
    (path) =>
      [
        `POST /${path}/:id`,
        ({ request, id }: Call) => create(desk, request, readKling(path, id, request.body)),
      ] as const,
  );
  return createDialect(desk, {
    prefix: '/kling',
    keyOf: (request) => klingKey(request, world),
    noSuchRoute: ({ method, path }) => klingError(404, 1202, `No such interface: ${method} ${path}.`),
    routes: {
      ...Object.fromEntries(submits),
      ...Object.fromEntries(legacyServices.flatMap(([kind, service]) => legacyRoutes(desk, kind, service))),
      'GET /tasks': (call) => query(desk, call),
      'POST /tasks': (call) => list(desk, call),
    },
  });
}

function envelope(data: unknown): Reply {
  return json(200, { code: 0, message: 'SUCCEED', request_id: randomUUID(), data });
}

function create(desk: KlingDesk, request: Call['request'], order: KlingOrder): Promise<Reply> {
  return desk.create(request, order, async (submission) => {
    const detail = order.settle(submission.model, submission.faults);
    const all = desk.newestFirst();
    // What a second create of one name answers is not verified: a refusal, or with docs-shape another job.
    const mustBeNew = detail.externalId !== undefined && !submission.faults.has('docs-shape');
    if (mustBeNew && all.some((task) => task.detail.externalId === detail.externalId))
      throw badParameter('external_task_id already exists');
    const taken = slotsTaken(all, submission.model, desk.world.now());
    if (taken + Math.max(1, detail.images) > (desk.world.parts.jobsAtOnceMax ?? slots))
      throw klingError(429, 1303, 'parallel task over resource pack limit');
    const id = desk.newId(() => `${desk.world.now()}${randomInt(100_000, 999_999)}`);
    const { callbackUrl } = order;
    return envelope(
      presentCreated(await desk.accept(submission, { id, expiresAfterMs, detail, callbackUrl })),
    );
  });
}

function slotsTaken(tasks: readonly KlingTask[], model: string, now: number): number {
  return tasks
    .filter((task) => task.model === model && !isFinal(momentOf(task, now).phase))
    .reduce((sum, { detail }) => sum + Math.max(1, detail.images), 0);
}

function byName(desk: KlingDesk, names: ReadonlySet<string>): KlingTask[] {
  return desk.newestFirst().filter(({ detail }) => names.has(detail.externalId ?? ''));
}

/** An array whatever was asked for; an id that is not known is just missing. */
function query(desk: KlingDesk, call: Call): Promise<Reply> {
  const { request } = call;
  const [ids, names] = [request.query.get('task_ids'), request.query.get('external_task_ids')];
  if ((ids === null) === (names === null))
    throw klingError(400, 1200, 'Exactly one of task_ids and external_task_ids is required.');
  const wanted = new Set((ids ?? names ?? '').split(','));
  const known = ids === null ? byName(desk, wanted) : [...wanted].flatMap((id) => desk.find(id) ?? []);
  const own = known.filter(({ detail }) => !detail.legacy);
  const found = () => envelope(own.map((task) => presentKling(new Job(task, desk.world))));
  if (wanted.size > 1 || ids === null) return desk.list(call, own, found);
  return desk.about('poll', { request, task: own[0] }, { found, missing: found });
}

const listSchema = z.strictObject({
  start_time: z.int().optional(),
  end_time: z.int().optional(),
  cursor: z.string().optional(),
  limit: z.int().min(1).max(500).default(100),
  filters: z
    .array(z.strictObject({ key: z.enum(['status', 'product_type']), values: z.array(z.string()) }))
    .default([]),
});

/** With a cursor the times are ignored. */
function list(desk: KlingDesk, call: Call): Promise<Reply> {
  const { world } = desk;
  const now = world.now();
  const body = check(listSchema, parseJson(call.request.body), refuseKling);
  const { start_time: from = now - recordKeptMs, end_time: to = now, cursor, limit, filters } = body;
  const jobs = desk.newestFirst().map((task) => new Job(task, world));
  const matching = jobs.filter((job) => {
    const { createdAt, detail } = job.task;
    const facts = { status: wordOf(job), product_type: detail.images === 0 ? 'video' : 'image' };
    if (detail.legacy || !filters.every(({ key, values }) => values.includes(facts[key]))) return false;
    return cursor !== undefined || (createdAt >= from && createdAt <= to);
  });
  const begin = Number(cursor ?? 0);
  const page = matching.slice(begin, begin + limit);
  const has_more = matching.length > begin + limit;
  const next_cursor = has_more ? String(begin + limit) : '';
  return desk.list(call, [], () =>
    envelope({ result: page.map(presentKling), count: page.length, next_cursor, has_more }),
  );
}

/** Queries stand at the path of the submit. */
function legacyRoutes(desk: KlingDesk, kind: 'videos' | 'images', service: string) {
  const path = `/v1/${kind}/${service}`;
  const { world } = desk;
  const own = (task: KlingTask | undefined) => (task?.detail.path === path ? task : undefined);
  const found = (task: KlingTask) => envelope(presentKling(new Job(task, world)));
  return [
    [
      `POST ${path}`,
      ({ request }: Call) => create(desk, request, readLegacyKling(kind, service, request.body)),
    ],
    [`GET ${path}`, (call: Call) => listLegacy(desk, call, path)],
    [
      `GET ${path}/:id`,
      ({ request, id }: Call) => {
        // The id of the caller is known for images only.
        const named = kind === 'images' ? byName(desk, new Set([id]))[0] : undefined;
        return desk.about('poll', { request, task: own(desk.find(id)) ?? own(named) }, { found });
      },
    ],
  ] as const;
}

function listLegacy(desk: KlingDesk, call: Call, path: string): Promise<Reply> {
  const { query: parameters } = call.request;
  const [page, size] = [Number(parameters.get('pageNum') ?? 1), Number(parameters.get('pageSize') ?? 30)];
  if (!(page >= 1 && page <= 1000 && size >= 1 && size <= 500))
    throw badParameter('pageNum must be from 1 to 1000, pageSize from 1 to 500.');
  const tasks = desk.newestFirst().filter(({ detail }) => detail.path === path);
  const onPage = tasks.slice((page - 1) * size, page * size);
  return desk.list(call, [], () => envelope(onPage.map((task) => presentKling(new Job(task, desk.world)))));
}
