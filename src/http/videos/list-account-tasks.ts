import { isWithin, type Reach } from '../../base/key-scope.ts';
import { defined } from '../../base/defined.ts';
import { invalidParameter } from '../../errors/errors.ts';
import { z } from 'zod';
import type { TaskFilter, TaskPage } from '../../store/tasks.ts';
import type { RouteDeps } from '../deps.ts';
import { findCursor, type CursorPage } from '../find-cursor.ts';
import { taskStatusSchema } from '../presenters/enums.ts';
import { presentOwnPage } from '../presenters/list.ts';
import { presentTask, taskListSchemas } from '../presenters/video-task.ts';
import type { TaskRoute } from './query-task.ts';
import { queryNumber } from '../query-fields.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';

const limitMax = 100;
const limitDefault = 20;
/**
 * About a screenful. The document with a task's prompt also contains the request's media, so pages with prompts are
 * small.
 */
const promptsMax = 25;
const unixSeconds = queryNumber(z.int().min(0).max(99_999_999_999).optional());

const query = z.object({
  limit: queryNumber(z.int().min(1).max(limitMax).default(limitDefault)),
  after: z.string().optional().meta({ description: 'The last id of the previous page.' }),
  status: taskStatusSchema.optional(),
  model: z.string().optional(),
  created_after: unixSeconds.meta({ description: 'Unix seconds, inclusive.' }),
  created_before: unixSeconds.meta({ description: 'Unix seconds, exclusive.' }),
  include: z
    .enum(['prompts'])
    .optional()
    .meta({
      description: `Adds the prompts to the response. Requires a \`limit\` of at most ${promptsMax}.`,
    }),
});

export type ListTasksDeps = Pick<RouteDeps, 'tasks' | 'requests' | 'mediaUrl'>;

export function listTasksOf(
  { kind, ...route }: TaskRoute,
  { tasks, requests, mediaUrl }: ListTasksDeps,
): Route {
  return keyRoute({
    ...route,
    scope: 'read_own',
    method: 'get',
    input: z.object({ query }),
    success: { description: 'One page.', schema: taskListSchemas[kind] },
    async handle({ query: { limit, after, status, model, include, ...asked }, reach }) {
      if (include !== undefined && limit > promptsMax)
        throw invalidParameter('limit', `If include=prompts is set, limit must be at most ${promptsMax}.`);
      const { created_after: createdAfter, created_before: createdBefore } = asked;
      const filter = { kind, ...reach, ...defined({ status, model, createdAfter, createdBefore }) };
      const page = await pageOfTasks(filter, { limit, ...defined({ after }) }, tasks);
      const data = page.tasks.map((task) => presentTask(task, mediaUrl));
      const presented = presentOwnPage(data, page.hasMore);
      if (include === undefined) return jsonReply(presented);
      const prompts = await requests.prompts(data.map(({ id }) => id));
      return jsonReply({ ...presented, prompts: Object.fromEntries(prompts) });
    },
  });
}

type OwnTasks = TaskFilter & Reach;

export async function pageOfTasks(
  filter: OwnTasks,
  { after: id, ...page }: CursorPage,
  tasks: Pick<RouteDeps['tasks'], 'find' | 'list'>,
): Promise<TaskPage> {
  const after = await findCursor(id, 'one of your tasks', async (task) => {
    const found = await tasks.find(task);
    return found !== undefined && isWithin(filter, found) ? found : undefined;
  });
  return tasks.list(filter, { ...page, ...defined({ after }) });
}
