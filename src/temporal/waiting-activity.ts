import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { defined } from '../base/defined.ts';
import { activityIds } from '../base/queues.ts';
import type { Stall } from '../task/wait.ts';
import type { Waiting } from '../commands/task-port.ts';
import { lastHeartbeat, type PendingActivity } from './last-heartbeat.ts';
import { within } from '../process/running-time.ts';

/**
 * This is short, because an operator is waiting for the page. The page omits whatever Temporal does not return in time.
 */
const callDeadlineMs = 2_000;

const polledSchema = z.object({
  polls: z.number(),
  errors: z.number(),
  lastError: z.string().optional(),
  lastAt: z.number().optional(),
});

export async function findWaiting(
  client: Client,
  task: string,
  now: () => number,
): Promise<Waiting | undefined> {
  const { namespace } = client.options;
  const known: readonly string[] = Object.values(activityIds);
  try {
    const described = await within(
      callDeadlineMs,
      client.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId: task } }),
      () => new Error('Temporal did not respond in time'),
    );
    const pending = (described.pendingActivities ?? []).find(({ activityId }) =>
      known.includes(activityId ?? ''),
    );
    const stalled = defined({ stall: stallOf(described, pending, now()) });
    if (pending === undefined) return stalled;
    const decoded = await lastHeartbeat(client, pending);
    const next = pending.nextAttemptScheduleTime?.seconds;
    return {
      ...stalled,
      activity: pending.activityId ?? '',
      ...defined({
        message: pending.lastFailure?.message ?? undefined,
        nextAt: next === undefined || next === null ? undefined : Number(next) * 1000,
        ...polledSchema.safeParse(decoded).data,
      }),
    };
  } catch {
    return undefined;
  }
}

/**
 * A worker usually takes a step in well under a second. After this time, either no worker is running or all are busy.
 */
const notTakenMs = 10_000;
const workflowPaused = 8;
const stepScheduled = 1;

type Described = Awaited<ReturnType<Client['workflowService']['describeWorkflowExecution']>>;

function stallOf(
  { workflowExecutionInfo, pendingWorkflowTask }: Described,
  activity: PendingActivity | undefined,
  now: number,
): Stall | undefined {
  if (workflowExecutionInfo?.status === workflowPaused || activity?.paused === true) return 'paused';
  const untaken = [activity, pendingWorkflowTask].find(
    (step) => step?.state === stepScheduled && (step.attempt ?? 1) <= 1,
  );
  const scheduledMs = Number(untaken?.scheduledTime?.seconds ?? now / 1000) * 1000;
  return now - scheduledMs > notTakenMs ? 'no_worker' : undefined;
}
