/** The entry point of the workflow bundle. The `tasks` worker runs all workflows in it. */
import { workflowInfo } from '@temporalio/workflow';
import { callbackActivities, reconcileTasks as reconcile } from './activity-proxies.ts';
import type { ReconcileReport } from '../activities/types.ts';

export { generationTask } from './generation-task.ts';

/** Used if an operator requests a redelivery, or if the workflow of the task itself no longer exists. */
export async function redeliverCallback(task: string): Promise<void> {
  await callbackActivities().deliverCallback(task, workflowInfo().runId);
}

/** A Schedule starts this every few minutes. */
export async function reconcileTasks(): Promise<ReconcileReport> {
  return reconcile();
}
