import { defined } from '../../domain/defined.ts';
import { z } from 'zod';
import { attentionReasons } from '../../domain/attention.ts';
import { failureClasses } from '../../domain/failure.ts';
import { taskStatuses } from '../../domain/task.ts';
import type { Task } from '../../domain/task-record.ts';
import type { TaskFilter, TaskPage } from '../../store/tasks.ts';
import { pageSize } from '../admin-input.ts';
import type { TaskSearch } from '../../tasks/task-port.ts';
import type { RouteDeps } from '../deps.ts';
import { adminTaskSchema, presentAdminTask } from '../presenters/admin-task.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

const query = z.object({
  limit: pageSize,
  after: z.string().optional(),
  status: z.enum(taskStatuses).optional(),
  account: z.string().optional(),
  channel: z.string().optional(),
  model: z.string().optional(),
  kind: z.enum(['video', 'image']).optional(),
  class: z
    .enum(failureClasses)
    .optional()
    .meta({ description: 'Selects failed tasks by the class of their failure.' }),
  needs_attention: z.enum(['true', 'false']).optional(),
  attention: z
    .enum(attentionReasons)
    .optional()
    .meta({ description: 'Selects tasks that need attention for this reason.' }),
  callback_failed: z.enum(['true', 'false']).optional().meta({
    description: 'Selects tasks whose callback was abandoned, in the order of their ids.',
  }),
  query: z.string().min(1).max(2000).optional().meta({
    description:
      'A query of Temporal’s visibility, such as `NeedsAttention = "submit_ambiguous"`. Its pages are named by `page`, not by `after`; the other filters narrow each of them.',
  }),
  page: z
    .string()
    .max(2000)
    .optional()
    .meta({ description: 'With `query`: `next_page` of the page before.' }),
  upstream_id: z.string().optional().meta({
    description:
      'The id of the upstream’s job; if several channels have used it, the newest task is returned. The other filters are ignored.',
  }),
});

type Deps = Pick<RouteDeps, 'tasks' | 'port' | 'mediaUrl'>;

export function listTasks(deps: Deps): Route {
  const { mediaUrl } = deps;
  return adminRoute({
    operationId: 'listTasks',
    summary: 'List tasks of all accounts, newest first',
    tag: 'Operators',
    method: 'get',
    paths: ['/admin/v1/tasks'],
    input: z.object({ query }),
    success: {
      description: 'One page.',
      schema: z.object({
        object: z.literal('list'),
        data: z.array(adminTaskSchema),
        has_more: z.boolean(),
        next_page: z
          .string()
          .optional()
          .meta({ description: 'With `query`, while there are more: the next `page`.' }),
      }),
    },
    errors: [],
    async handle({ query: { limit, after, upstream_id: upstreamId, ...asked }, role }) {
      const page =
        upstreamId === undefined
          ? await findPage(asked, { limit, ...defined({ after }) }, deps)
          : await findByUpstreamId(upstreamId, deps);
      const data = page.tasks.map((task) => presentAdminTask(task, { mediaUrl, role }));
      return jsonReply({
        object: 'list',
        data,
        has_more: page.hasMore,
        ...defined({ next_page: page.next }),
      });
    },
  });
}

type Asked = Omit<z.output<typeof query>, 'limit' | 'after' | 'upstream_id'>;

/** `next`: names the next page of a query's. */
type Found = TaskPage & { readonly next?: string };

interface PageRequest {
  readonly limit: number;
  readonly after?: string;
}

function findPage(asked: Asked, page: PageRequest, deps: Deps): Promise<Found> {
  const filter = toFilter(asked);
  if (asked.query !== undefined) {
    const search = { query: asked.query, limit: page.limit, ...defined({ page: asked.page }) };
    return findByQuery(filter, search, deps);
  }
  return asked.callback_failed === 'true'
    ? findByFailedCallback(filter, page, deps)
    : deps.tasks.list(filter, page);
}

async function findByQuery(
  filter: TaskFilter,
  search: TaskSearch,
  { tasks, port }: Pick<Deps, 'tasks' | 'port'>,
): Promise<Found> {
  const { ids, next } = await port.search(search);
  return {
    tasks: await tasks.listThese(ids, filter),
    hasMore: next !== undefined,
    ...defined({ next }),
  };
}

/** Few callbacks are abandoned: the other filters are applied to a batch of those at a time. */
async function findByFailedCallback(
  filter: TaskFilter,
  { limit, after }: PageRequest,
  { tasks }: Pick<Deps, 'tasks'>,
): Promise<TaskPage> {
  const found: Task[] = [];
  for (let last = after; ;) {
    const ids = await tasks.abandonedCallbacks(batchSize, last);
    found.push(...(await tasks.listThese(ids, filter)));
    if (ids.length < batchSize || found.length > limit) break;
    last = ids.at(-1);
  }
  return { tasks: found.slice(0, limit), hasMore: found.length > limit };
}

const batchSize = 200;

/** Also while the task runs, when Temporal's search attributes do not have it yet. */
async function findByUpstreamId(upstreamId: string, { tasks }: Pick<RouteDeps, 'tasks'>): Promise<Found> {
  const task = await tasks.findByUpstreamId(upstreamId);
  return { tasks: task === undefined ? [] : [task], hasMore: false };
}

function toFilter(asked: Asked): TaskFilter {
  const { status, account, channel, model, kind, needs_attention, attention, class: failureClass } = asked;
  return {
    ...defined({ status, account, channel, model, kind, failureClass, attention }),
    ...(needs_attention === 'true' ? { needsAttention: true } : {}),
  };
}
