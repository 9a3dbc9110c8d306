/** Everything that the `tasks` worker runs; bundled from here. */
import { workflowInfo } from '@temporalio/workflow';
import { callbackActivities, reconcileTasks as reconcile } from './activity-proxies.ts';
import type { ReconcileReport } from '../activities/types.ts';

export { generationTask } from './generation-task.ts';

/** Sends a finished task's callback: again on an operator's demand, or because its own workflow is gone. */
export async function redeliverCallback(task: string): Promise<void> {
  await callbackActivities().deliverCallback(task, workflowInfo().runId);
}

/** Started by a Schedule every few minutes. */
export async function reconcileTasks(): Promise<ReconcileReport> {
  return reconcile();
}
