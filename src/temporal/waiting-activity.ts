import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { defined } from '../base/defined.ts';
import { activityIds } from '../base/queues.ts';
import type { Stall } from '../task/wait.ts';
import type { Waiting } from '../commands/task-port.ts';
import { lastHeartbeat } from './last-heartbeat.ts';
import type { PendingActivity } from './last-heartbeat.ts';
import { within } from './within.ts';

/** An operator looks at a page: what Temporal does not say in this time is left out. */
const callDeadlineMs = 2_000;

/** What a poll leaves to the next one (activities/poll.ts), as far as operators see it. */
const polledSchema = z.object({
  polls: z.number(),
  errors: z.number(),
  lastError: z.string().optional(),
  lastAt: z.number().optional(),
});

/** What a task's workflow waits for, according to Temporal. Undefined: Temporal does not answer. */
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
      () => client.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId: task } }),
      () => new Error('Temporal does not answer in time'),
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

/** A worker takes a step in well under a second, unless none is there or all are full. */
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
