import {
  ActivityCancellationType,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  CallbackActivities,
  ChannelActivities,
  FirstCallback,
  TaskActivities,
} from '../activities/types.ts';
import { activityIds, callbacksQueue, channelQueue, pollsQueue, prefixOf } from '../src/domain/queues.ts';

/** Every timeout and retry rule of a task's activities, in one place. */

/**
 * Longest that one upstream submission may take (limit of `timeouts.submit_ms`), and then one look at the job: an
 * attempt's share of the wait, copies of results included.
 */
const attendedTimeout = '450s';
/** A dead worker is noticed after this long; activities heartbeat at a quarter of it. */
const heartbeatTimeout = '15s';
/**
 * A wait, and the submission that becomes one: a heartbeat, at half of it, is a write on the server, and nothing is
 * lost when another worker continues later.
 */
const waitHeartbeatTimeout = '1m';

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

/** What a task has of its local activities: that the last one is over. */
export interface LocalTurns {
  lastLocal: Promise<unknown>;
}

/**
 * One local activity of a task at a time: the SDK may resolve two that ran side by side in another order when the history
 * is replayed, and a task whose commands then differ is stuck (docs/decisions/0023-local-activities-in-turn.md).
 */
function inTurn<Result>(run: LocalTurns, work: () => Promise<Result>): Promise<Result> {
  const result = run.lastLocal.then(work);
  run.lastLocal = result.catch(() => undefined);
  return result;
}

/**
 * In this worker, in one step; while the database is unavailable, as an activity that is retried for as long as
 * necessary.
 */
function localFirst<Arguments extends readonly unknown[], Result>(
  here: (...given: Arguments) => Promise<Result>,
  anywhere: (...given: Arguments) => Promise<Result>,
) {
  return async (run: LocalTurns, ...given: Arguments): Promise<Result> => {
    try {
      return await inTurn(run, () => here(...given));
    } catch {
      return anywhere(...given);
    }
  };
}

/** Nobody waits for it: the creator was answered when the workflow was started. */
export const claimTask = localFirst(local.claimTask, patient.claimTask);
export const findJob = localFirst(local.findJob, patient.findJob);
export const finishTask = localFirst(local.finishTask, patient.finishTask);
export const noteAttention = localFirst(local.noteAttention, patient.noteAttention);
/** An action that was done is on record, however long the database is unavailable. */
export const recordAction = localFirst(local.recordAction, patient.recordAction);
export const moveDeadline = localFirst(local.moveDeadline, patient.moveDeadline);

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
export function firstCallback(run: LocalTurns, task: string): Promise<FirstCallback> {
  return inTurn(run, () => brief.firstCallback(task));
}

export const { wakeTask } = proxyActivities<TaskActivities>({
  summary: 'retry now, for an operator',
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', maximumAttempts: 3 },
});

function queueOf(channel: string): string {
  return channelQueue(prefixOf(workflowInfo().taskQueue), channel);
}

function pollsQueueOf(channel: string): string {
  return pollsQueue(prefixOf(workflowInfo().taskQueue), channel);
}

/**
 * The submission, and after it the whole wait: retried, without a history event, until the upstream has ended the job. One
 * at a time per task, addressed by operators as `submit`.
 */
export function submitAttendedOn(channel: string, n: number): Pick<ChannelActivities, 'submit'> {
  return proxyActivities<ChannelActivities>({
    activityId: activityIds.submit,
    taskQueue: queueOf(channel),
    summary: `${channel}: submission and wait, attempt ${n}`,
    startToCloseTimeout: attendedTimeout,
    heartbeatTimeout: waitHeartbeatTimeout,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
}

export function findLostJobOn(channel: string): Pick<ChannelActivities, 'findLostJob'> {
  return proxyActivities<ChannelActivities>({
    taskQueue: pollsQueueOf(channel),
    summary: 'looking for the upstream job',
    startToCloseTimeout: '60s',
    heartbeatTimeout,
    retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '20s', maximumAttempts: 5 },
  });
}

/** The whole wait is one activity: it is retried, without a history event, until the upstream has ended the job. */
export function pollOn(channel: string, timeoutMs: number): Pick<ChannelActivities, 'poll'> {
  return proxyActivities<ChannelActivities>({
    activityId: activityIds.poll,
    taskQueue: pollsQueueOf(channel),
    summary: `waiting for ${channel}`,
    startToCloseTimeout: '15m',
    scheduleToCloseTimeout: timeoutMs,
    heartbeatTimeout: waitHeartbeatTimeout,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '2s', backoffCoefficient: 1.5, maximumInterval: '1m' },
  });
}

export function lastPollOn(channel: string): Pick<ChannelActivities, 'poll'> {
  return proxyActivities<ChannelActivities>({
    taskQueue: pollsQueueOf(channel),
    summary: 'final poll before the deadline',
    startToCloseTimeout: '60s',
    scheduleToCloseTimeout: '2m',
    heartbeatTimeout,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '5s', maximumAttempts: 4 },
  });
}

export function cancelOn(channel: string): Pick<ChannelActivities, 'cancelUpstream'> {
  return proxyActivities<ChannelActivities>({
    taskQueue: pollsQueueOf(channel),
    summary: 'asking the upstream to cancel',
    startToCloseTimeout: '30s',
    scheduleToCloseTimeout: '1m',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumAttempts: 4 },
  });
}

/** An operator waits for the answer: within the time that the API gives it. */
function checksOn(channel: string, summary: string) {
  return proxyActivities<ChannelActivities>({
    taskQueue: pollsQueueOf(channel),
    summary,
    startToCloseTimeout: '30s',
    scheduleToCloseTimeout: '40s',
    heartbeatTimeout,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumAttempts: 5 },
  });
}

export function adoptJobOn(channel: string): Pick<ChannelActivities, 'adoptJob'> {
  return checksOn(channel, 'asking the upstream about the job that an operator named');
}

export function completeTaskOn(channel: string): Pick<ChannelActivities, 'completeTask'> {
  return checksOn(channel, 'recording the result that an operator gave');
}

export function undoAdoptionOn(channel: string): Pick<ChannelActivities, 'undoAdoption'> {
  return checksOn(channel, 'taking the adopted job back');
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
