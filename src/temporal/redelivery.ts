import type { Client } from '@temporalio/client';
import { tasksQueue, workflowTypes } from '../domain/queues.ts';

/**
 * Starts the delivery of a finished task's callback in a workflow of its own: on an operator's demand, or because the
 * task's own workflow is gone. One at a time for each task.
 */
export function createRedelivery(client: Client, queuePrefix: string): (task: string) => Promise<void> {
  return async (task) => {
    await client.workflow.start(workflowTypes.redelivery, {
      workflowId: `redeliver-${task}`,
      taskQueue: tasksQueue(queuePrefix),
      args: [task],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      staticSummary: 'callback again, on demand',
    });
  };
}
