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
import { activityTimeouts, scheduleTimeouts, searchTries } from '../src/base/activity-times.ts';
import { defined } from '../src/base/defined.ts';
import { activityIds, callbacksQueue, channelQueue, pollsQueue, prefixOf } from '../src/base/queues.ts';
import { reconcileTimeoutMs } from '../src/base/upkeep-times.ts';
import { see, type TaskRun } from './task-run.ts';

/** A dead worker is detected within this time. Activities send a heartbeat about every four seconds. */
const heartbeatTimeout = '15s';
/**
 * The heartbeat timeout of a wait, and of a submission that turns into a wait. Only two heartbeats are sent within this
 * time, because each is a write on the server. A slow takeover does no harm, because nothing is lost if another worker
 * continues later.
 */
const waitHeartbeatTimeout = '1m';
/**
 * The longest retry interval of a waiting activity. Temporal counts every attempt that only waited as failed, so after
 * a long wait, the interval has grown to this value by the time a worker dies.
 */
const waitRetryMax = '20s';

const local = proxyLocalActivities<TaskActivities>({
  startToCloseTimeout: '3s',
  scheduleToCloseTimeout: '6s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '1s' },
});

/** Repeats what a local activity could not do within its time limit, until the database is available again. */
const patient = proxyActivities<TaskActivities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
});

/**
 * Runs a task's local activities one at a time. On replay, the SDK may resolve parallel local activities in a different
 * order, and a workflow whose commands differ from its history gets stuck (docs/decisions/0007-steps-on-temporal.md).
 */
function inTurn<Result>(run: TaskRun, work: () => Promise<Result>): Promise<Result> {
  const result = run.lastLocal.then(work);
  run.lastLocal = result.catch(() => undefined);
  return result;
}

/**
 * Runs the call as a local activity in this worker. If that fails because the database is unavailable, runs it as an
 * activity that is retried for as long as necessary.
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

async function seen(run: TaskRun, call: (activities: TaskActivities) => Promise<TaskView>): Promise<void> {
  see(run, await localFirst(run, call));
}

/** Reads the record at the start, and whenever another process may have changed it. */
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

/** Actions that query an upstream first, which takes too long for a local activity. All others are a single write. */
const asking: readonly ActRequest['action'][] = ['adopt', 'complete'];

export function actOnTask(run: TaskRun, request: ActRequest): Promise<ActReply> {
  if (!asking.includes(request.action)) return localFirst(run, (activities) => activities.actOnTask(request));
  const { actOnTask: ask } = proxyActivities<TaskActivities>({
    summary: `${request.action}, for an operator`,
    startToCloseTimeout: activityTimeouts.askingMs,
    heartbeatTimeout,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumAttempts: 5 },
  });
  return ask(request);
}

export const { reconcileTasks } = proxyActivities<TaskActivities>({
  startToCloseTimeout: reconcileTimeoutMs,
  heartbeatTimeout: '1m',
  retry: { initialInterval: '10s', maximumAttempts: 3 },
});

const brief = proxyLocalActivities<TaskActivities>({
  startToCloseTimeout: '3s',
  scheduleToCloseTimeout: '3s',
  retry: { maximumAttempts: 1 },
});

/** Makes a single brief attempt. The `deliverCallback` activity makes all later ones. */
export function firstCallback(run: TaskRun): Promise<FirstCallback> {
  return inTurn(run, () => brief.firstCallback(run.input.task));
}

export const { wakeTask } = proxyActivities<TaskActivities>({
  summary: 'retry now, for an operator',
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', maximumAttempts: 3 },
});

/**
 * Returns the activity that searches for a lost job. It runs on the task's own queue, which is served as long as any
 * worker is running, even if the task's channel is no longer configured. `isLast`: the task ends after this search, even
 * if the upstream does not list the job yet.
 */
export function searchJob(isLast: boolean): Pick<TaskActivities, 'findLostJob'> {
  return proxyActivities<TaskActivities>({
    activityId: activityIds.find,
    summary: 'looking for the upstream job',
    startToCloseTimeout: activityTimeouts.searchMs,
    scheduleToCloseTimeout: isLast ? scheduleTimeouts.lastSearchMs : scheduleTimeouts.searchesMs,
    heartbeatTimeout,
    retry: {
      initialInterval: '2s',
      backoffCoefficient: 2,
      maximumInterval: '20s',
      maximumAttempts: isLast ? 1 : searchTries,
    },
  });
}

export const { stopJob } = proxyActivities<TaskActivities>({
  summary: 'asking the upstream to stop the job',
  startToCloseTimeout: activityTimeouts.stopMs,
  scheduleToCloseTimeout: scheduleTimeouts.stopMs,
  heartbeatTimeout,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '5s', maximumAttempts: 4 },
});

function waiting(taskQueue: string, activityId: string, summary: string): ChannelActivities {
  return proxyActivities<ChannelActivities>({
    activityId,
    taskQueue,
    summary,
    startToCloseTimeout: activityTimeouts.attendedMs,
    heartbeatTimeout: waitHeartbeatTimeout,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '2s', backoffCoefficient: 1.5, maximumInterval: waitRetryMax },
  });
}

/**
 * Returns the activity that submits the task and then waits for its job. The activity is retried, without history
 * events, until the upstream job has finished.
 */
export function submitOn(channel: string): Pick<ChannelActivities, 'submit'> {
  const queue = channelQueue(prefixOf(workflowInfo().taskQueue), channel);
  return waiting(queue, activityIds.submit, `${channel}: submission and wait`);
}

/** Returns the activity that waits for the job if the submission activity does not wait or has stopped waiting. */
export function pollOn(channel: string): Pick<ChannelActivities, 'poll'> {
  const queue = pollsQueue(prefixOf(workflowInfo().taskQueue), channel);
  return waiting(queue, activityIds.poll, `waiting for ${channel}`);
}

/**
 * Requests are made after about 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h. The activity sets each delay
 * and ends the series. A request that could not be sent because of a busy host, a dead worker or an unavailable
 * database is retried sooner.
 */
export function callbackActivities(): CallbackActivities {
  return proxyActivities<CallbackActivities>({
    taskQueue: callbacksQueue(prefixOf(workflowInfo().taskQueue)),
    summary: 'callback to the caller',
    startToCloseTimeout: '45s',
    retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '5m' },
  });
}
