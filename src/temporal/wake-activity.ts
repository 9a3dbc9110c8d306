import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { TriedNow } from '../../activities/deps.ts';
import { lastHeartbeat } from './last-heartbeat.ts';

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
 * Ends the back-off of the activity that the task waits for, without a history event. An attempt that a worker is running is
 * not reset, because that would discard its result. It acts soon, is asked to end, or backs off, and the loop then ends that
 * back-off. Returns the number of the new attempt, or undefined if there was no back-off to end.
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
      if (pending.state === scheduled) {
        await client.workflowService.resetActivity({ namespace, execution, id: pending.activityId ?? '' });
        return 1;
      }
      const attempt = pending.attempt ?? 0;
      // It has ended since, and its next attempt has begun.
      if (seen !== undefined && attempt > seen) return attempt;
      if (seen === undefined) await endStay?.(task);
      seen ??= attempt;
    } catch {
      // The task has ended or is not there yet; the next attempt sees whatever there is to see.
      return undefined;
    }
    await delay(wakeRetryMs);
  }
  return undefined;
}

/** How long to wait for a worker to start the attempt, and then for its outcome. */
const takenWithinMs = 8_000;
const endsWithinMs = 2_000;
const followEveryMs = 400;

/** Wakes the activity, and follows the attempt that comes of it for some seconds. Rejects if Temporal does not answer. */
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
