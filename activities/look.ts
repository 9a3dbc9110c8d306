import type { TaskEvent } from '../src/domain/task-state.ts';
import type { Task } from '../src/domain/task-record.ts';
import type { TaskActivityDeps } from './deps.ts';
import { stepTo } from './step-to.ts';
import { givenUpView, viewOf } from './task-view.ts';
import type { TaskActivities } from './types.ts';

/** How the workflow reads and writes the record. */
export function createTaskSteps(deps: TaskActivityDeps): Pick<TaskActivities, 'lookAtTask' | 'stepTask'> {
  const { tasks, ledger, channels, log } = deps;
  return {
    async lookAtTask(id, account, isAgain = false) {
      if (isAgain) tasks.forget(id);
      const task = await tasks.look(id);
      if (task !== undefined) return viewOf(await withoutGoneChannels(task));
      // Whatever was held for it, nobody can settle: a hold without a record is given back.
      log.error({ task: id }, 'a task has a workflow and no record');
      await ledger.void({ account, task: id, note: 'the task has no record' });
      return givenUpView;
    },

    async stepTask(id, event) {
      const stepped = await tasks.step(id, event);
      return stepped.task === undefined ? givenUpView : viewOf(stepped.task);
    },
  };

  /** Nobody serves the queue of a channel that the configuration lacks: the next one is asked at once. */
  async function withoutGoneChannels(task: Task): Promise<Task> {
    if (task.state.at !== 'submitting') return task;
    const gone = task.state.left.filter(({ channel }) => channels(channel) === undefined);
    if (gone.length === 0) return task;
    await tasks.setConcern(task.id, 'channel_gone');
    const skipped: TaskEvent = { kind: 'skipped', channels: gone.map(({ channel }) => channel) };
    return stepTo(task, skipped, deps);
  }
}
