import { createClaimTask } from './claim.ts';
import { createCancelUpstream } from './cancel-upstream.ts';
import { createDeliverCallback } from './deliver-callback.ts';
import type { CallbackActivityDeps, ChannelActivityDeps, TaskActivityDeps } from './deps.ts';
import { createFinishTask } from './finish.ts';
import { createFindJob } from './find-job.ts';
import { createFirstCallback } from './first-callback.ts';
import type { FirstCallbackDeps } from './first-callback.ts';
import { createNoteAttention } from './note-attention.ts';
import { createAdoptJob, createCompleteTask, createUndoAdoption } from './operator-jobs.ts';
import { createPoll } from './poll.ts';
import { createActionActivities } from './record-action.ts';
import { createReconcileTasks } from './reconcile.ts';
import { createFindLostJob } from './find-lost-job.ts';
import { createSubmit } from './submit.ts';
import type { CallbackActivities, ChannelActivities, TaskActivities } from './types.ts';

/** Run by the `tasks` queue's worker. */
export function createTaskActivities(deps: TaskActivityDeps, callbacks: FirstCallbackDeps): TaskActivities {
  return {
    firstCallback: createFirstCallback(callbacks),
    claimTask: createClaimTask(deps),
    findJob: createFindJob(deps),
    finishTask: createFinishTask(deps),
    noteAttention: createNoteAttention(deps),
    ...createActionActivities(deps),
    reconcileTasks: createReconcileTasks(deps),
  };
}

/** Run by the worker of each channel's queue. */
export function createChannelActivities(deps: ChannelActivityDeps): ChannelActivities {
  return {
    submit: createSubmit(deps),
    findLostJob: createFindLostJob(deps),
    poll: createPoll(deps),
    cancelUpstream: createCancelUpstream(deps),
    adoptJob: createAdoptJob(deps),
    completeTask: createCompleteTask(deps),
    undoAdoption: createUndoAdoption(deps),
  };
}

/** Run by the `callbacks` queue's worker. */
export function createCallbackActivities(deps: CallbackActivityDeps): CallbackActivities {
  return { deliverCallback: createDeliverCallback(deps) };
}
