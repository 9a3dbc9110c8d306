import { defined } from '../../domain/defined.ts';
import { z } from 'zod';
import { operatorActions } from '../../domain/task-input.ts';
import { reasonCharactersMax } from '../admin-input.ts';
import { adminBody } from '../body.ts';
import type { RouteDeps } from '../deps.ts';
import { taskNotFound, taskParams } from '../videos/own-task.ts';
import { adminTaskSchema, presentAdminTask } from '../presenters/admin-task.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'tasks' | 'port' | 'log' | 'mediaUrl' | 'now'>;

const upstreamIdCharactersMax = 256;

const body = z
  .object({
    action: z.enum(operatorActions),
    reason: z.string().min(1).max(reasonCharactersMax),
    upstream_id: z
      .string()
      .min(1)
      .max(upstreamIdCharactersMax)
      .optional()
      .meta({ description: 'For `adopt`: the upstream job that belongs to the task.' }),
  })
  .refine(({ action, upstream_id }) => action !== 'adopt' || upstream_id !== undefined, {
    path: ['upstream_id'],
    error: 'is required for adopt',
  });

export function actOnTask({ tasks, port, log, mediaUrl, now }: Deps): Route {
  return adminRoute({
    operationId: 'actOnTask',
    summary: 'Act on a task',
    description: `One of ${operatorActions.join(', ')}. The task's record keeps who acted, when and why.`,
    tag: 'Operators',
    method: 'post',
    paths: ['/admin/v1/tasks/:task_id/actions'],
    input: z.object({ params: taskParams, body }),
    readBody: adminBody,
    success: { description: 'The task after the action.', schema: adminTaskSchema },
    errors: ['task_not_found', 'action_not_possible'],
    async handle({ params: { task_id: id }, body: { action, reason, upstream_id }, operator }) {
      if ((await tasks.find(id)) === undefined) throw taskNotFound();
      // The log has it even if the process dies between the deed and its record.
      log.info({ task: id, action, actor: operator, reason }, 'an operator acted on a task');
      await port.act(id, {
        action,
        by: operator,
        reason,
        ...defined({ upstreamId: upstream_id }),
      });
      await tasks.recordAction(id, { at: now(), by: operator, action, reason });
      const task = await tasks.find(id);
      if (task === undefined) throw taskNotFound();
      return jsonReply(presentAdminTask(task, mediaUrl));
    },
  });
}
