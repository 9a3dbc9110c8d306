import { z } from 'zod';
import { isTerminal } from '../../task/task.ts';
import type { RouteDeps } from '../deps.ts';
import { taskNotFound, taskParams } from '../videos/own-task.ts';
import { adminTaskDetailSchema, presentAdminTaskDetail } from '../presenters/admin-task.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'tasks' | 'port' | 'ledger' | 'mediaUrl' | 'nodes' | 'readHealth'>;

export function getTask({ tasks, port, ledger, mediaUrl, nodes, readHealth }: Deps): Route {
  return adminRoute({
    operationId: 'getTask',
    access: 'read',
    summary: 'Show a task and its attempts, ledger entries and callbacks',
    method: 'get',
    paths: ['/admin/v1/tasks/:task_id'],
    input: z.object({ params: taskParams }),
    success: { description: 'Everything except the request itself.', schema: adminTaskDetailSchema },
    errors: ['task_not_found'],
    async handle({ params: { task_id: id }, roles }) {
      const task = await tasks.find(id);
      if (task === undefined) throw taskNotFound();
      const isOver = isTerminal(task.status);
      const [entries, waiting, health] = await Promise.all([
        ledger.entriesOfTask(id),
        isOver ? undefined : port.waiting(id),
        isOver ? [] : readHealth(),
      ]);
      return jsonReply(presentAdminTaskDetail(task, { entries, waiting, health, mediaUrl, roles, nodes }));
    },
  });
}
