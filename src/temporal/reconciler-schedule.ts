import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import { tasksQueue, workflowTypes } from '../base/queues.ts';
import { createRounds, type Rounds, type RoundsDeps } from '../process/rounds.ts';

const every = '5m';
const keptEveryMs = 60_000;

/**
 * Creates the schedule if it does not exist. Every worker repeats this, because Temporal may lose its data while the
 * workers keep running, and then only the reconciler restarts the workflows that were lost too.
 */
export async function keepReconcilerSchedule(
  client: Client,
  queuePrefix: string,
  { onError, everyMs = keptEveryMs }: Pick<RoundsDeps, 'onError'> & Partial<Pick<RoundsDeps, 'everyMs'>>,
): Promise<Rounds> {
  const work = (): Promise<void> => createSchedule(client, queuePrefix);
  await work();
  const rounds = createRounds({ everyMs, work, onError });
  rounds.start();
  return rounds;
}

async function createSchedule(client: Client, queuePrefix: string): Promise<void> {
  try {
    await client.schedule.create({
      scheduleId: `${queuePrefix}reconcile-tasks`,
      spec: { intervals: [{ every }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1m' },
      action: {
        type: 'startWorkflow',
        workflowType: workflowTypes.reconciler,
        workflowId: `${queuePrefix}reconcile-tasks`,
        taskQueue: tasksQueue(queuePrefix),
        args: [],
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
