import { defined } from '../../base/defined.ts';
import { z } from 'zod';
import { invalidParameter } from '../../errors/errors.ts';
import { attentionReasons } from '../../task/attention.ts';
import type { Task } from '../../task/record.ts';
import type { Cell } from '../../money/csv.ts';
import type { EndFilter, TaskFilter, TaskPage } from '../../store/tasks.ts';
import { pageSize } from '../admin-input.ts';
import { queryNumber } from '../query-fields.ts';
import type { TaskSearch } from '../../commands/task-port.ts';
import type { RouteDeps } from '../deps.ts';
import { findCursor, type CursorPage } from '../find-cursor.ts';
import { adminTaskSchema, presentAdminTask } from '../presenters/admin-task.ts';
import { failureClassSchema, taskKindSchema, taskStatusSchema } from '../presenters/enums.ts';
import { pageSchema } from '../presenters/list.ts';
import { taskCells, taskColumns } from '../presenters/task-csv.ts';
import { beginReport, reportMediaType, reportReply } from '../report-reply.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

const rowsMax = 10_000;
const rowsAtOnce = 100;

const query = z.object({
  format: z
    .enum(['json', 'csv'])
    .default('json')
    .meta({
      description: `The CSV contains all tasks from \`after\` on, up to ${rowsMax.toLocaleString('en')} of them. It ignores \`limit\`.`,
    }),
  limit: pageSize,
  after: z.string().optional(),
  status: taskStatusSchema.optional(),
  account: z.string().optional(),
  key: z.string().optional().meta({ description: 'Selects tasks created by the key with this public id.' }),
  channel: z.string().optional(),
  model: z.string().optional(),
  kind: taskKindSchema.optional(),
  class: failureClassSchema.optional().meta({ description: 'Selects failed tasks by failure class.' }),
  needs_attention: z.enum(['true', 'false']).optional(),
  attention: z
    .enum(attentionReasons)
    .optional()
    .meta({ description: 'Selects tasks that need attention for this reason.' }),
  created_after: queryNumber(z.int().min(0).optional()).meta({ description: 'Unix seconds, inclusive.' }),
  created_before: queryNumber(z.int().min(0).optional()).meta({ description: 'Unix seconds, exclusive.' }),
  ended_after: queryNumber(z.int().min(0).optional()).meta({
    description:
      'Unix seconds, inclusive. Selects tasks that ended at or after this time, the latest end first. Can be combined with `ended_before`, `status` and `class` only.',
  }),
  ended_before: queryNumber(z.int().min(0).optional()).meta({
    description:
      'Unix seconds, exclusive. Selects tasks that ended before this time, in the same order and with the same restriction as `ended_after`.',
  }),
  waiting_for: z.string().optional().meta({
    description: 'Selects tasks that have not been submitted yet and will be submitted to this channel next.',
  }),
  callback_failed: z.enum(['true', 'false']).optional().meta({
    description: 'Selects tasks whose callback was abandoned, in the order of their ids.',
  }),
  callback_failing: z.enum(['true', 'false']).optional().meta({
    description:
      'Selects tasks whose callback is due, has failed so far, and will be retried, in the order of their ids. Cannot be combined with `callback_failed`.',
  }),
  query: z.string().min(1).max(2000).optional().meta({
    description:
      'A Temporal visibility query, such as `NeedsAttention = "submit_ambiguous"`. Use `page`, not `after`, to page through it. The other filters narrow each page.',
  }),
  page: z
    .string()
    .max(2000)
    .optional()
    .meta({ description: '`next_page` of the previous page. Used only with `query`.' }),
  upstream_id: z.string().optional().meta({
    description:
      'The upstream job id. If multiple channels have used the id, the newest task is returned. The other filters are ignored.',
  }),
});

type Deps = Pick<RouteDeps, 'tasks' | 'port' | 'mediaUrl' | 'nodes' | 'reports'>;

export function listTasks(deps: Deps): Route {
  const { mediaUrl, nodes } = deps;
  return adminRoute({
    operationId: 'listTasks',
    access: 'read',
    summary: 'List tasks of all accounts, newest first',
    method: 'get',
    paths: ['/admin/v1/tasks'],
    input: z.object({ query }),
    success: {
      description: 'One page.',
      mediaType: reportMediaType,
      schema: pageSchema(adminTaskSchema).extend({
        next_page: z
          .string()
          .optional()
          .meta({ description: 'The next `page`, if there is one. Present only with `query`.' }),
      }),
    },
    errors: ['concurrency_limit_exceeded'],
    async handle({ query: { limit, format, ...asked }, operator, roles }) {
      if (format === 'csv') {
        const onEnd = beginReport(deps.reports, operator);
        const rows = cellsOf(asked, deps);
        return reportReply({ head: {}, columns: taskColumns, rows }, { format, onEnd });
      }
      const page = await findPage(asked, limit, deps);
      const data = page.tasks.map((task) => presentAdminTask(task, { mediaUrl, roles, nodes }));
      const more = { has_more: page.hasMore, ...defined({ next_page: page.next }) };
      return jsonReply({ object: 'list', data, ...more });
    },
  });
}

type Asked = Omit<z.output<typeof query>, 'limit' | 'format'>;

type Found = TaskPage & { readonly next?: string };

async function* cellsOf(asked: Asked, deps: Deps): AsyncIterable<readonly Cell[]> {
  let count = 0;
  let next: Asked = asked;
  for (;;) {
    const page = await findPage(next, rowsAtOnce, deps);
    for (const task of page.tasks.slice(0, rowsMax - count)) yield taskCells(task);
    count += page.tasks.length;
    if (!page.hasMore || count >= rowsMax) return;
    next =
      page.next === undefined ? { ...asked, after: page.tasks.at(-1)?.id } : { ...asked, page: page.next };
  }
}

async function findPage(cursor: Asked, limit: number, deps: Deps): Promise<Found> {
  const { tasks } = deps;
  const { after: last, upstream_id: upstreamId, ...asked } = cursor;
  if (upstreamId !== undefined) return findByUpstreamId(upstreamId, deps);
  const page = { limit, ...defined({ after: last }) };
  const { ended_after: endedAfter, ended_before: endedBefore } = asked;
  const filter = toFilter(asked);
  if (endedAfter !== undefined || endedBefore !== undefined) {
    refuseWithEnd(asked);
    return findEnded({ ...filter, ...defined({ endedAfter, endedBefore }) }, page, deps);
  }
  if (asked.query !== undefined) {
    const search = { query: asked.query, limit: page.limit, ...defined({ page: asked.page }) };
    return findByQuery(filter, search, deps);
  }
  if (asked.callback_failed === 'true' && asked.callback_failing === 'true') {
    const message = '`callback_failing` cannot be combined with `callback_failed`.';
    throw invalidParameter('callback_failing', message);
  }
  if (asked.callback_failed === 'true')
    return findByCallback(filter, page, { tasks, read: (...of) => tasks.abandonedCallbacks(...of) });
  if (asked.callback_failing === 'true')
    return findByCallback(filter, page, { tasks, read: (...of) => tasks.failingCallbacks(...of) });
  const after = await findTask(page.after, deps);
  return tasks.list(filter, { limit: page.limit, ...defined({ after }) });
}

function findTask(id: string | undefined, { tasks }: Pick<Deps, 'tasks'>): Promise<Task | undefined> {
  return findCursor(id, 'a task', (task) => tasks.find(task));
}

async function findEnded(filter: EndFilter, { limit, after }: CursorPage, deps: Deps): Promise<Found> {
  const last = await findTask(after, deps);
  if (last === undefined) return deps.tasks.listEnded(filter, { limit });
  const { id, completedAt } = last;
  if (completedAt === undefined)
    throw invalidParameter('after', 'The parameter after must be the id of a task that has ended.');
  return deps.tasks.listEnded(filter, { limit, after: { id, completedAt } });
}

/**
 * Rejects filters that cannot be combined with the end time. An index lists tasks by end time for each status and
 * class, and any other filter would require reading all of those tasks.
 */
function refuseWithEnd(asked: Asked): void {
  const { ended_after: _after, ended_before: _before, status: _status, class: _class, ...others } = asked;
  const [param] = Object.entries(others).find(([, value]) => value !== undefined && value !== 'false') ?? [];
  if (param === undefined) return;
  const message = `\`ended_after\` and \`ended_before\` can be combined with \`status\` and \`class\` only, not with \`${param}\`.`;
  throw invalidParameter(param, message);
}

async function findByQuery(
  filter: TaskFilter,
  search: TaskSearch,
  { tasks, port }: Pick<Deps, 'tasks' | 'port'>,
): Promise<Found> {
  const { ids, next } = await port.search(search);
  return { tasks: await tasks.listThese(ids, filter), hasMore: next !== undefined, ...defined({ next }) };
}

interface CallbackReads extends Pick<Deps, 'tasks'> {
  readonly read: (limit: number, after?: string) => Promise<readonly string[]>;
}

/** Few callbacks fail, so other filters are applied to batches of these tasks. */
async function findByCallback(
  filter: TaskFilter,
  { limit, after }: CursorPage,
  { tasks, read }: CallbackReads,
): Promise<TaskPage> {
  const found: Task[] = [];
  for (let last = after; ;) {
    const ids = await read(batchSize, last);
    found.push(...(await tasks.listThese(ids, filter)));
    if (ids.length < batchSize || found.length > limit) break;
    last = ids.at(-1);
  }
  return { tasks: found.slice(0, limit), hasMore: found.length > limit };
}

const batchSize = 200;

/** Also finds running tasks whose job id is not yet in Temporal's search attributes. */
async function findByUpstreamId(upstreamId: string, { tasks }: Pick<RouteDeps, 'tasks'>): Promise<Found> {
  const task = await tasks.findByUpstreamId(upstreamId);
  return { tasks: task === undefined ? [] : [task], hasMore: false };
}

function toFilter(asked: Asked): TaskFilter {
  const { status, account, key, channel, model, kind, attention, class: failureClass } = asked;
  const { created_after: createdAfter, created_before: createdBefore, waiting_for: waitingFor } = asked;
  return {
    ...defined({ status, account, key, channel, model, kind, failureClass, attention }),
    ...defined({ createdAfter, createdBefore, waitingFor }),
    ...(asked.needs_attention === 'true' ? { needsAttention: true } : {}),
  };
}
