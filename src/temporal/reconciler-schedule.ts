import { ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { tasksQueue, workflowTypes } from '../base/queues.ts';

const every = '5m';

/** Every worker calls this at startup, but only the first call creates the schedule. */
export async function ensureReconcilerSchedule(client: Client, queuePrefix: string): Promise<void> {
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
