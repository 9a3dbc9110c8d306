import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';

/** States of a pending activity: waiting for its next attempt, or with a worker. */
const scheduled = 1;
const wakeTries = 3;
const wakeRetryMs = 1_500;

export interface WakeRequest {
  readonly task: string;
  readonly activities: readonly string[];
  /** Ends the attempt if it stays in a worker and only waits there. Never rejects. Absent: it is left alone. */
  readonly endStay?: (task: string) => Promise<void>;
}

/**
 * Ends the back-off of the one of these activities that the task waits for: costs no history event. One that is with a worker is not reset, since that
 * would discard its result: it acts soon anyway, is asked to end, or goes into a back-off that the next try ends. False: there was nothing to end.
 */
export async function wakeActivity(
  client: Client,
  { task, activities, endStay }: WakeRequest,
): Promise<boolean> {
  const { namespace } = client.options;
  const execution = { workflowId: task };
  let seen: number | undefined;
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
      const attempt = pending.attempt ?? 0;
      // It has ended since, and its next attempt has begun.
      if (seen !== undefined && attempt > seen) return true;
      if (seen === undefined) await endStay?.(task);
      seen ??= attempt;
    } catch {
      // The task has ended or is not there yet; the next attempt sees whatever there is to see.
      return false;
    }
    await delay(wakeRetryMs);
  }
  return false;
}
