import { z } from 'zod';
import { taskStatuses } from '../../domain/task.ts';
import type { TaskFilter } from '../../store/tasks.ts';
import { pageSize } from '../admin-input.ts';
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
  needs_attention: z.enum(['true', 'false']).optional(),
});

export function listTasks({ tasks, mediaUrl }: Pick<RouteDeps, 'tasks' | 'mediaUrl'>): Route {
  return adminRoute({
    operationId: 'listTasks',
    summary: 'List tasks of all accounts, newest first',
    tag: 'Operators',
    method: 'get',
    paths: ['/admin/v1/tasks'],
    input: z.object({ query }),
    success: {
      description: 'One page.',
      schema: z.object({ object: z.literal('list'), data: z.array(adminTaskSchema), has_more: z.boolean() }),
    },
    errors: [],
    async handle({ query: { limit, after, ...asked } }) {
      const page = await tasks.list(toFilter(asked), { limit, ...(after === undefined ? {} : { after }) });
      const data = page.tasks.map((task) => presentAdminTask(task, mediaUrl));
      return jsonReply({ object: 'list', data, has_more: page.hasMore });
    },
  });
}

function toFilter(asked: Omit<z.output<typeof query>, 'limit' | 'after'>): TaskFilter {
  const { status, account, channel, model, kind, needs_attention } = asked;
  return {
    ...(status === undefined ? {} : { status }),
    ...(account === undefined ? {} : { account }),
    ...(channel === undefined ? {} : { channel }),
    ...(model === undefined ? {} : { model }),
    ...(kind === undefined ? {} : { kind }),
    ...(needs_attention === 'true' ? { needsAttention: true } : {}),
  };
}
