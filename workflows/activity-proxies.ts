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
 * The heartbeat timeout while an activity waits for a job. Each heartbeat costs the server a write, so only two are
 * sent in this time. It does no harm if a dead worker is noticed late here.
 */
const waitHeartbeatTimeout = '1m';
/**
 * Temporal counts an attempt as failed even if it only waited, so the retry interval of a long wait always reaches this
 * maximum.
 */
const waitRetryMax = '20s';

const local = proxyLocalActivities<TaskActivities>({
  startToCloseTimeout: '3s',
  scheduleToCloseTimeout: '6s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '1s' },
});

/** Takes over when a local activity fails. Retries until the database is available again. */
const patient = proxyActivities<TaskActivities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
});

/**
 * Runs a task's local activities one at a time. On replay, the SDK may resolve parallel local activities in a different
 * order, which would block the workflow (docs/decisions/0007-steps-on-temporal.md).
 */
function inTurn<Result>(run: TaskRun, work: () => Promise<Result>): Promise<Result> {
  const result = run.lastLocal.then(work);
  run.lastLocal = result.catch(() => undefined);
  return result;
}

/**
 * Tries a local activity in this worker first. If the database is unavailable, continues with an activity that is
 * retried for as long as necessary.
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
  const { rev } = run.view;
  see(run, await localFirst(run, call), rev);
}

/** Called at the start, and whenever another process may have changed the record. */
export function lookAtTask(run: TaskRun): Promise<void> {
  const { task, account } = run.input;
  const { rev } = run.view;
  return seen(run, (activities) => activities.lookAtTask(task, account, rev));
}

export function stepTask(run: TaskRun, event: WorkflowEvent): Promise<void> {
  return seen(run, (activities) => activities.stepTask(run.input.task, event));
}

export function finishTask(run: TaskRun): Promise<void> {
  const { task, basis, keyUnlimited } = run.input;
  const finish = { task, rev: run.view.rev, basis, ...defined({ keyUnlimited }) };
  return seen(run, (activities) => activities.finishTask(finish));
}

/** These actions query an upstream, which takes too long for a local activity. Each of the others is a single write. */
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

/** Makes one short attempt. All others are made by the `deliverCallback` activity. */
export function firstCallback(run: TaskRun): Promise<FirstCallback> {
  return inTurn(run, () => brief.firstCallback(run.input.task));
}

export const { wakeTask } = proxyActivities<TaskActivities>({
  summary: 'retry now, for an operator',
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', maximumAttempts: 3 },
});

/**
 * Uses the task's own queue, which any worker serves, because the task's channel may no longer be configured. `isLast`
 * means that the task ends after this search even if no job is found.
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

/** Submits the task and then waits for its job in the same activity. Retries add no events to the history. */
export function submitOn(channel: string): Pick<ChannelActivities, 'submit'> {
  const queue = channelQueue(prefixOf(workflowInfo().taskQueue), channel);
  return waiting(queue, activityIds.submit, `${channel}: submission and wait`);
}

/** Used if the activity that made the submission does not wait for the job, or has stopped waiting. */
export function pollOn(channel: string): Pick<ChannelActivities, 'poll'> {
  const queue = pollsQueue(prefixOf(workflowInfo().taskQueue), channel);
  return waiting(queue, activityIds.poll, `waiting for ${channel}`);
}

/**
 * Sends requests after about 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h. The activity chooses each delay
 * and decides when to stop. If a request could not be sent at all, it is retried sooner.
 */
export function callbackActivities(): CallbackActivities {
  return proxyActivities<CallbackActivities>({
    taskQueue: callbacksQueue(prefixOf(workflowInfo().taskQueue)),
    summary: 'callback to the caller',
    startToCloseTimeout: '45s',
    retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '5m' },
  });
}
