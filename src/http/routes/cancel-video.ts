import { z } from 'zod';
import { GatewayError } from '../../domain/errors.ts';
import { isTerminal } from '../../domain/task.ts';
import type { RouteDeps } from '../deps.ts';
import { findOwnTask, taskParams } from '../videos/own-task.ts';
import { presentTask, taskSchemas } from '../presenters/video-task.ts';
import { jsonReply, keyRoute } from '../route.ts';
import type { Route } from '../route.ts';

export function cancelVideo({
  tasks,
  port,
  mediaUrl,
}: Pick<RouteDeps, 'tasks' | 'port' | 'mediaUrl'>): Route {
  return keyRoute({
    operationId: 'cancelVideo',
    summary: 'Cancel a video generation task',
    description:
      'Ends the task immediately if nothing has been sent upstream; otherwise asks the upstream to cancel the job. If the upstream refuses or cannot cancel, the task keeps running and the response is 409.',
    tag: 'Videos',
    method: 'post',
    paths: ['/v1/videos/generations/:task_id/cancel', '/v1/video/generations/:task_id/cancel'],
    input: z.object({ params: taskParams }),
    success: { description: 'The task is cancelled, and its hold is released.', schema: taskSchemas.video },
    errors: ['task_not_found', 'task_not_cancellable'],
    async handle({ params, caller }) {
      const task = await findOwnTask(tasks, { id: params.task_id, caller, kind: 'video' });
      if (isTerminal(task.status)) {
        throw new GatewayError('task_not_cancellable', `The task has already ${task.status}.`, {
          param: 'task_id',
        });
      }
      try {
        await port.cancel(task.id);
      } catch (error) {
        // What was asked for may be done although its answer was lost.
        const after = await tasks.find(task.id);
        if (after?.error?.code !== 'task_cancelled') throw error;
        return jsonReply(presentTask(after, mediaUrl));
      }
      return jsonReply(presentTask((await tasks.find(task.id)) ?? task, mediaUrl));
    },
  });
}
