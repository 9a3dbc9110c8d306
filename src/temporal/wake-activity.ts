import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { TriedNow } from '../../activities/deps.ts';
import { lastHeartbeat } from './last-heartbeat.ts';

const scheduled = 1;
const wakeTries = 3;
const wakeRetryMs = 1_500;

export interface WakeRequest {
  readonly task: string;
  readonly activities: readonly string[];
  /**
   * Stops the attempt if it is merely waiting inside a worker. Never rejects. Undefined if a waiting attempt must not
   * be disturbed.
   */
  readonly endStay?: (task: string) => Promise<void>;
}

/**
 * Ends the back-off of the activity that the task waits for, without a history event. A running attempt is not reset,
 * because that would discard its result. An attempt that is merely waiting is asked to stop, and the back-off that
 * follows is ended. Returns the number of the next attempt, or undefined if an attempt is running or the activity is
 * over.
 */
export async function wakeActivity(
  client: Client,
  { task, activities, endStay }: WakeRequest,
): Promise<number | undefined> {
  const { namespace } = client.options;
  const execution = { workflowId: task };
  let seen: number | undefined;
  for (let left = wakeTries; left > 0; left -= 1) {
    try {
      const pending = await findPending(client, { task, activities });
      if (pending === undefined) return undefined;
      const attempt = pending.attempt ?? 0;
      const isScheduled = pending.state === scheduled;
      // A first attempt has no back-off to end, because a worker can start it at any moment.
      if (isScheduled && attempt <= 1) return attempt;
      if (isScheduled) {
        await client.workflowService.resetActivity({ namespace, execution, id: pending.activityId ?? '' });
        return 1;
      }
      // The previous attempt has finished, and the next one has started.
      if (seen !== undefined && attempt > seen) return attempt;
      if (seen === undefined) await endStay?.(task);
      seen ??= attempt;
    } catch {
      // The task has finished or its workflow does not exist yet. The next attempt will see the current state.
      return undefined;
    }
    await delay(wakeRetryMs);
  }
  return undefined;
}

/** How long to wait for a worker to start the attempt, and then for the outcome of the attempt. */
const takenWithinMs = 8_000;
const endsWithinMs = 2_000;
const followEveryMs = 400;

/** Follows the new attempt for a few seconds. Rejects if Temporal does not respond. */
export async function tryNow(client: Client, request: WakeRequest): Promise<TriedNow> {
  const before = JSON.stringify(await lastHeartbeat(client, await findPending(client, request)));
  const attempt = await wakeActivity(client, request);
  let leftMs = takenWithinMs;
  let hasBegun = false;
  for (;;) {
    const pending = await findPending(client, request);
    if (pending === undefined) return { kind: 'ended' };
    if (attempt === undefined) return { kind: 'busy' };
    if (Number(pending.attempt) > attempt)
      return { kind: 'tried', ended: pending.lastFailure?.message ?? '' };
    const details = await lastHeartbeat(client, pending);
    if (JSON.stringify(details) !== before) return { kind: 'heard', details };
    if (pending.state !== scheduled && !hasBegun) {
      hasBegun = true;
      leftMs = endsWithinMs;
    }
    if (leftMs <= 0) return { kind: hasBegun ? 'begun' : 'not_begun' };
    await delay(followEveryMs);
    leftMs -= followEveryMs;
  }
}

async function findPending(client: Client, { task, activities }: WakeRequest) {
  const { namespace } = client.options;
  const { pendingActivities } = await client.workflowService.describeWorkflowExecution({
    namespace,
    execution: { workflowId: task },
  });
  return (pendingActivities ?? []).find(({ activityId }) => activities.includes(activityId ?? ''));
}
