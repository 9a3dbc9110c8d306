import {
  ActivityCancellationType,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  ActRequest,
  ActReply,
  CallbackActivities,
  ChannelActivities,
  FirstCallback,
  TaskActivities,
  TaskView,
  WorkflowEvent,
} from '../activities/types.ts';
import { defined } from '../src/base/defined.ts';
import { activityIds, callbacksQueue, channelQueue, pollsQueue, prefixOf } from '../src/base/queues.ts';
import { see } from './task-run.ts';
import type { TaskRun } from './task-run.ts';

/** Every timeout and retry rule of a task's activities, in one place. */

/** The longest submission (`timeouts.submit_ms`, `timeouts.image_ms`), a stay of ten minutes, and a copy. */
const attendedTimeout = '20m';
/** A dead worker is noticed after this long; activities heartbeat at a quarter of it. */
const heartbeatTimeout = '15s';
/**
 * A wait, and the submission that becomes one: a heartbeat, at half of it, is a write on the server, and nothing is
 * lost when another worker continues later.
 */
const waitHeartbeatTimeout = '1m';
/** Attempts that waited count as failed ones do, so that a worker's death after a long wait adds all of it. */
const waitRetryMax = '20s';

const local = proxyLocalActivities<TaskActivities>({
  startToCloseTimeout: '3s',
  scheduleToCloseTimeout: '6s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '1s' },
});

/** Used when the database is unavailable for longer than a local activity may take. */
const patient = proxyActivities<TaskActivities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
});

/**
 * One local activity of a task at a time: the SDK may resolve two that ran side by side in another order when the history
 * is replayed, and a task whose commands then differ is stuck (docs/decisions/0007-steps-on-temporal.md).
 */
function inTurn<Result>(run: TaskRun, work: () => Promise<Result>): Promise<Result> {
  const result = run.lastLocal.then(work);
  run.lastLocal = result.catch(() => undefined);
  return result;
}

/**
 * In this worker, in one step; while the database is unavailable, as an activity that is retried for as long as
 * necessary.
 */
async function localFirst<Result>(
  run: TaskRun,
  call: (activities: TaskActivities) => Promise<Result>,
): Promise<Result> {
  try {
    return await inTurn(run, () => call(local));
  } catch {
    return call(patient);
  }
}

/** The same of what answers with the record, which the run then knows. */
async function seen(run: TaskRun, call: (activities: TaskActivities) => Promise<TaskView>): Promise<void> {
  see(run, await localFirst(run, call));
}

/** At the beginning, and whenever others may have changed the record. */
export function lookAtTask(run: TaskRun): Promise<void> {
  const { task, account } = run.input;
  return seen(run, (activities) => activities.lookAtTask(task, account));
}

export function stepTask(run: TaskRun, event: WorkflowEvent): Promise<void> {
  return seen(run, (activities) => activities.stepTask(run.input.task, event));
}

export function finishTask(run: TaskRun): Promise<void> {
  const { task, basis, keyUnlimited } = run.input;
  const finish = { task, rev: run.view.rev, basis, ...defined({ keyUnlimited }) };
  return seen(run, (activities) => activities.finishTask(finish));
}

/** Those that ask an upstream first; all others are a write. Whoever acts waits for the answer. */
const asking: readonly ActRequest['action'][] = ['adopt', 'complete'];

export function actOnTask(run: TaskRun, request: ActRequest): Promise<ActReply> {
  if (!asking.includes(request.action)) return localFirst(run, (activities) => activities.actOnTask(request));
  const { actOnTask: ask } = proxyActivities<TaskActivities>({
    summary: `${request.action}, for an operator`,
    // Above what an upstream may take for two questions: who has written the answer is heard.
    startToCloseTimeout: '3m',
    heartbeatTimeout,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumAttempts: 5 },
  });
  return ask(request);
}

/** Checks everything, and retries copies of results. */
export const { reconcileTasks } = proxyActivities<TaskActivities>({
  startToCloseTimeout: '15m',
  heartbeatTimeout: '1m',
  retry: { initialInterval: '10s', maximumAttempts: 3 },
});

const brief = proxyLocalActivities<TaskActivities>({
  startToCloseTimeout: '3s',
  scheduleToCloseTimeout: '3s',
  retry: { maximumAttempts: 1 },
});

/** Once, and briefly: what it leaves undone is the `deliverCallback` activity's. */
export function firstCallback(run: TaskRun): Promise<FirstCallback> {
  return inTurn(run, () => brief.firstCallback(run.input.task));
}

export const { wakeTask } = proxyActivities<TaskActivities>({
  summary: 'retry now, for an operator',
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', maximumAttempts: 3 },
});

/**
 * On the task's own queue, which is served as long as any worker runs, whatever the configuration has by then. `isLast`:
 * the task ends after it, and does not wait until the upstream shows the job.
 */
export function searchJob(isLast: boolean): Pick<TaskActivities, 'findLostJob'> {
  return proxyActivities<TaskActivities>({
    summary: 'looking for the upstream job',
    startToCloseTimeout: '60s',
    scheduleToCloseTimeout: isLast ? '70s' : '5m',
    heartbeatTimeout,
    retry: {
      initialInterval: '2s',
      backoffCoefficient: 2,
      maximumInterval: '20s',
      maximumAttempts: isLast ? 1 : 5,
    },
  });
}

export const { stopJob } = proxyActivities<TaskActivities>({
  summary: 'asking the upstream to stop the job',
  startToCloseTimeout: '60s',
  scheduleToCloseTimeout: '2m',
  heartbeatTimeout,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '5s', maximumAttempts: 4 },
});

function waiting(taskQueue: string, activityId: string, summary: string): ChannelActivities {
  return proxyActivities<ChannelActivities>({
    activityId,
    taskQueue,
    summary,
    startToCloseTimeout: attendedTimeout,
    heartbeatTimeout: waitHeartbeatTimeout,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '2s', backoffCoefficient: 1.5, maximumInterval: waitRetryMax },
  });
}

/** The submission, and after it the whole wait: retried, without a history event, until the upstream has ended the job. */
export function submitOn(channel: string): Pick<ChannelActivities, 'submit'> {
  const queue = channelQueue(prefixOf(workflowInfo().taskQueue), channel);
  return waiting(queue, activityIds.submit, `${channel}: submission and wait`);
}

/** The wait that is left when a submission does not wait itself (any more). */
export function pollOn(channel: string): Pick<ChannelActivities, 'poll'> {
  const queue = pollsQueue(prefixOf(workflowInfo().taskQueue), channel);
  return waiting(queue, activityIds.poll, `waiting for ${channel}`);
}

/**
 * After about 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h: the activity names each delay, and ends the
 * series. What kept it from sending is retried sooner: a busy host, a dead worker, an unavailable database.
 */
export function callbackActivities(): CallbackActivities {
  return proxyActivities<CallbackActivities>({
    taskQueue: callbacksQueue(prefixOf(workflowInfo().taskQueue)),
    summary: 'callback to the caller',
    startToCloseTimeout: '45s',
    retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '5m' },
  });
}
