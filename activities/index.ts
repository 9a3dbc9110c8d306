import { createActOnTask } from './act.ts';
import { createDeliverCallback } from './deliver-callback.ts';
import type { CallbackActivityDeps, ChannelActivityDeps, TaskActivityDeps } from './deps.ts';
import { createFindLostJob } from './find-lost-job.ts';
import { createFinishTask } from './finish.ts';
import { createFirstCallback, type FirstCallbackDeps } from './first-callback.ts';
import { createTaskSteps } from './look.ts';
import { createPoll } from './poll.ts';
import { createReconcileTasks } from './reconcile.ts';
import { createStopJob } from './stop-job.ts';
import { createSubmit } from './submit.ts';
import type { CallbackActivities, ChannelActivities, TaskActivities } from './types.ts';

export interface WorkerDeps {
  readonly tasks: TaskActivityDeps;
  readonly channels: ChannelActivityDeps;
  readonly callbacks: FirstCallbackDeps;
}

export function createTaskActivities({ tasks, channels, callbacks }: WorkerDeps): TaskActivities {
  return {
    ...createTaskSteps(tasks),
    actOnTask: createActOnTask(channels),
    findLostJob: createFindLostJob(channels),
    stopJob: createStopJob(channels),
    finishTask: createFinishTask(tasks),
    firstCallback: createFirstCallback(callbacks),
    reconcileTasks: createReconcileTasks(tasks),
  };
}

export function createChannelActivities(deps: ChannelActivityDeps): ChannelActivities {
  return { submit: createSubmit(deps), poll: createPoll(deps) };
}

export function createCallbackActivities(deps: CallbackActivityDeps): CallbackActivities {
  return { deliverCallback: createDeliverCallback(deps) };
}
