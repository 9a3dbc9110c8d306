import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Call } from '../dialect.ts';
import type { JobDesk } from '../job-desk.ts';
import { check, json, parseJson } from '../wire.ts';
import type { Reply } from '../wire.ts';
import { badParameter, KlingError } from './kling-error.ts';
import type { KlingDetail } from './kling-models.ts';
import { presentKling, statusOf } from './kling-task.ts';
import type { KlingTask } from './kling-task.ts';

/** Questions about many jobs. */

export type KlingDesk = JobDesk<KlingDetail>;

export const recordKeptMs = 30 * 86_400_000;

export function envelope(data: unknown): Reply {
  return json(200, { code: 0, message: 'SUCCEED', request_id: randomUUID(), data });
}

/** An array whatever was asked for; an id that is not known is just missing. */
export function queryKling(desk: KlingDesk, call: Call): Promise<Reply> {
  const { query: parameters } = call.request;
  const [ids, names] = [parameters.get('task_ids'), parameters.get('external_task_ids')];
  if ((ids === null) === (names === null))
    throw new KlingError([400, 1200], 'Exactly one of task_ids and external_task_ids is required.');
  const wanted = new Set((ids ?? names ?? '').split(','));
  const { world } = desk;
  const found = ids === null ? byName(desk, wanted) : [...wanted].flatMap((id) => desk.find(id) ?? []);
  const own = found.filter(({ detail }) => !detail.legacy);
  if (wanted.size > 1 || ids === null)
    return desk.list(call, own, () => envelope(own.map((task) => presentKling(task, world))));
  return desk.about(
    'poll',
    { request: call.request, task: own[0] },
    {
      found: (task) => envelope([presentKling(task, world)]),
      missing: () => envelope([]),
    },
  );
}

export function byName(desk: KlingDesk, names: ReadonlySet<string>): KlingTask[] {
  return desk.newestFirst().filter(({ detail }) => names.has(detail.externalId ?? ''));
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
export function listKling(desk: KlingDesk, call: Call): Promise<Reply> {
  const { world } = desk;
  const now = world.now();
  const refuse = ({ path, reason }: { path: string; reason: string }) => badParameter(`${path}: ${reason}`);
  const body = check(listSchema, parseJson(call.request.body), refuse);
  const { start_time: from = now - recordKeptMs, end_time: to = now, cursor, limit, filters } = body;
  const matching = desk.newestFirst().filter((task) => {
    const facts = { status: statusOf(task, now), product_type: task.detail.kind };
    if (task.detail.legacy || !filters.every(({ key, values }) => values.includes(facts[key]))) return false;
    return cursor !== undefined || (task.createdAt >= from && task.createdAt <= to);
  });
  const begin = Number(cursor ?? 0);
  const page = matching.slice(begin, begin + limit);
  const has_more = matching.length > begin + limit;
  return desk.list(call, [], () =>
    envelope({
      result: page.map((task) => presentKling(task, world)),
      count: page.length,
      next_cursor: has_more ? String(begin + limit) : '',
      has_more,
    }),
  );
}

/** The legacy standard lists the jobs of one path. */
export function listLegacyKling(desk: KlingDesk, call: Call, path: string): Promise<Reply> {
  const { query: parameters } = call.request;
  const [page, size] = [Number(parameters.get('pageNum') ?? 1), Number(parameters.get('pageSize') ?? 30)];
  if (!(page >= 1 && page <= 1000 && size >= 1 && size <= 500))
    throw badParameter('pageNum must be from 1 to 1000, pageSize from 1 to 500.');
  const tasks = desk.newestFirst().filter(({ detail }) => detail.path === path);
  const shown = tasks.slice((page - 1) * size, page * size);
  return desk.list(call, [], () => envelope(shown.map((task) => presentKling(task, desk.world))));
}
