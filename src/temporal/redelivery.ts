import type { Client } from '@temporalio/client';
import { tasksQueue, workflowTypes } from '../base/queues.ts';

/**
 * Delivers a finished task's callback in a separate workflow, either on request or because the task's own workflow no
 * longer exists. Each task has at most one such workflow. If `replaces` is set, it replaces a delivery that is waiting
 * for its next attempt. Otherwise, a delivery that is already running continues, and no new one is started.
 */
export function createRedelivery(
  client: Client,
  queuePrefix: string,
  { replaces }: { readonly replaces: boolean },
): (task: string) => Promise<void> {
  return async (task) => {
    await client.workflow.start(workflowTypes.redelivery, {
      workflowId: `redeliver-${task}`,
      taskQueue: tasksQueue(queuePrefix),
      args: [task],
      workflowIdConflictPolicy: replaces ? 'TERMINATE_EXISTING' : 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      staticSummary: 'callback again, on demand',
    });
  };
}
