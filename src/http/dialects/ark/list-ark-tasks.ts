import { z } from 'zod';
import { isWithin, type Reach } from '../../../base/key-scope.ts';
import { defined } from '../../../base/defined.ts';
import type { Task } from '../../../task/record.ts';
import type { TaskStatus } from '../../../task/task.ts';
import { queryNumber } from '../../query-fields.ts';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { arkDialect } from './ark-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { arkStatuses, arkTaskSchema, presentArkTask, type ArkStatus } from './ark-task.ts';

/** The maximum number of tasks searched. This API uses page numbers, so the number must be limited. */
const tasksMax = 500;

const page = queryNumber(z.int().min(1).max(tasksMax).optional());
const query = z.object({
  page_num: page,
  page_size: page.meta({ description: 'Default: 20.' }),
  'filter.status': z.enum(arkStatuses).optional(),
  'filter.task_ids': z
    .union([z.string(), z.array(z.string()).max(tasksMax)])
    .optional()
    .meta({ description: 'May be repeated.' }),
  'filter.model': z.string().optional(),
});

export function listArkTasks({ tasks, mediaUrl }: DialectDeps): Route {
  return keyRoute({
    operationId: 'listArkTasks',
    scope: 'read_own',
    summary: "List the account's newest video generation tasks",
    description: `Considers only the ${tasksMax} newest tasks with the requested status and model; \`GET /v1/videos/generations\` lists older ones. To see what was requested, query a single task.`,
    dialect: arkDialect,
    method: 'get',
    paths: ['/api/v3/contents/generations/tasks'],
    input: z.object({ query }),
    success: {
      description: 'One page.',
      schema: z.object({ total: z.int(), items: z.array(arkTaskSchema) }),
    },
    async handle({ query: asked, reach }) {
      const { page_num: number = 1, page_size: size = 20 } = asked;
      const found = await findTasks(asked, reach, tasks);
      const status = asked['filter.status'];
      const matching = found
        .map((task) => presentArkTask(task, { mediaUrl }))
        .filter((item) => status === undefined || item.status === status);
      const items = matching.slice((number - 1) * size, number * size);
      return jsonReply({ total: matching.length, items });
    },
  });
}

/** Filtering by our own status lets the database use an index. The other Ark statuses have no counterpart. */
const indexed: Readonly<Partial<Record<ArkStatus, TaskStatus>>> = {
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'failed',
  expired: 'failed',
};

async function findTasks(
  asked: z.output<typeof query>,
  reach: Reach,
  tasks: Pick<DialectDeps['tasks'], 'findMany' | 'list'>,
): Promise<readonly Task[]> {
  const { 'filter.task_ids': ids, 'filter.model': model, 'filter.status': word } = asked;
  if (ids !== undefined) {
    const named = await tasks.findMany([ids].flat());
    return named
      .filter((task) => isWithin(reach, task) && task.kind === 'video')
      .filter((task) => model === undefined || task.model === model)
      .toSorted((one, other) => other.createdAt - one.createdAt);
  }
  const status = word === undefined ? undefined : indexed[word];
  const filter = { ...reach, kind: 'video', ...defined({ model, status }) } as const;
  return (await tasks.list(filter, { limit: tasksMax })).tasks;
}
