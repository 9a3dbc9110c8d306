import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';

/** States of a pending activity: waiting for its next attempt, or with a worker. */
const scheduled = 1;
const wakeTries = 3;
const wakeRetryMs = 1_500;

/**
 * Ends the back-off of the one of these activities that the task waits for: costs no history event. One that is with a worker is left alone, since a
 * reset would discard its result: it acts soon anyway, or goes into a back-off that the next try ends. False: there was no back-off to end.
 */
export async function wakeActivity(
  client: Client,
  task: string,
  activities: readonly string[],
): Promise<boolean> {
  const { namespace } = client.options;
  const execution = { workflowId: task };
  for (let left = wakeTries; left > 0; left -= 1) {
    try {
      const { pendingActivities } = await client.workflowService.describeWorkflowExecution({
        namespace,
        execution,
      });
      const pending = (pendingActivities ?? []).find(({ activityId }) =>
        activities.includes(activityId ?? ''),
      );
      if (pending === undefined) return false;
      if (pending.state === scheduled) {
        await client.workflowService.resetActivity({ namespace, execution, id: pending.activityId ?? '' });
        return true;
      }
    } catch {
      // The task has ended or is not there yet; the next attempt sees whatever there is to see.
      return false;
    }
    await delay(wakeRetryMs);
  }
  return false;
}
