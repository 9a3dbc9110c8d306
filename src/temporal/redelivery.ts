import type { Client } from '@temporalio/client';
import { tasksQueue, workflowTypes } from '../base/queues.ts';

/**
 * Starts the delivery of a finished task's callback in a workflow of its own: on a person's demand, or because the
 * task's own workflow is gone. One at a time for each task. `replaces`: one that waits for its next attempt ends, so that
 * a person does not wait for it; otherwise nothing is started beside it.
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
