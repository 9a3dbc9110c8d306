/** The workflow bundle's entry point, with all workflows of the `tasks` worker. */
import { workflowInfo } from '@temporalio/workflow';
import { callbackActivities, reconcileTasks as reconcile } from './activity-proxies.ts';
import type { ReconcileReport } from '../activities/types.ts';

export { generationTask } from './generation-task.ts';

/** Delivers a finished task's callback if an operator requests it, or if the task's own workflow no longer exists. */
export async function redeliverCallback(task: string): Promise<void> {
  await callbackActivities().deliverCallback(task, workflowInfo().runId);
}

/** Runs the reconciler. A Schedule starts this workflow every few minutes. */
export async function reconcileTasks(): Promise<ReconcileReport> {
  return reconcile();
}
