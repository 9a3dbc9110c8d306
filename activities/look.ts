import type { Task } from '../src/task/record.ts';
import { isIdle } from '../src/task/state.ts';
import type { TaskActivityDeps } from './deps.ts';
import { viewOf } from './task-view.ts';
import type { TaskActivities } from './types.ts';

/** How the workflow reads and writes the record. */
export function createTaskSteps(deps: TaskActivityDeps): Pick<TaskActivities, 'lookAtTask' | 'stepTask'> {
  const { tasks, ledger, log } = deps;
  return {
    async lookAtTask(id, account) {
      tasks.forget(id);
      const task = await tasks.look(id);
      if (task !== undefined) return viewOf(await withoutGoneChannels(task));
      // Whatever was held for it, nobody can settle: a hold without a record is given back.
      log.error({ task: id }, 'a task has a workflow and no record');
      await ledger.void({ account, task: id, note: 'the task has no record' });
      return viewOf(task);
    },

    async stepTask(id, event) {
      if (event.kind === 'skipped') return viewOf(await skip(id, event.channels));
      const { task } = await tasks.step(id, event);
      const beginsRound = task !== undefined && event.kind === 'resumed';
      return viewOf(beginsRound ? await withoutGoneChannels(task) : task);
    },
  };

  /** Nobody serves the queue of a channel that the configuration lacks: the next one is asked at once. */
  async function withoutGoneChannels(task: Task): Promise<Task> {
    if (!isIdle(task.state)) return task;
    const gone = await goneOf(task.state.left.map(({ channel }) => channel));
    if (gone.length === 0) return task;
    if (deps.isConfigCurrent()) await tasks.setConcern(task.id, 'channel_gone');
    return (await skip(task.id, gone)) ?? task;
  }

  /** Nobody else gives back what the task has at these channels. */
  async function skip(id: string, channels: readonly string[]): Promise<Task | undefined> {
    const { ok, task } = await tasks.step(id, { kind: 'skipped', channels });
    if (!ok) return task;
    const { candidates, fallback } = task.plan;
    const left = [...candidates, ...(fallback?.candidates ?? [])];
    for (const candidate of left)
      if (channels.includes(candidate.channel)) await deps.slots.release(id, candidate);
    return task;
  }

  /** A process that could not load the newest configuration knows less than others, which may serve what it lacks. */
  async function goneOf(left: readonly string[]): Promise<readonly string[]> {
    const unknown = left.filter((channel) => deps.channels(channel) === undefined);
    if (unknown.length === 0 || deps.isConfigCurrent()) return unknown;
    const { unserved } = await deps.workers();
    return unknown.filter((channel) => unserved(channel) !== undefined);
  }
}
