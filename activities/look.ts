import { progressOf, rememberedPolls } from '../src/polling/poll-memory.ts';
import type { Task } from '../src/task/record.ts';
import { isIdle } from '../src/task/state.ts';
import type { TaskActivityDeps } from './deps.ts';
import { viewOf } from './task-view.ts';
import type { TaskActivities, TaskView } from './types.ts';

type TaskSteps = Pick<TaskActivities, 'lookAtTask' | 'stepTask' | 'wakeTask'>;

export function createTaskSteps(deps: TaskActivityDeps): TaskSteps {
  const { tasks, ledger, log } = deps;
  return {
    async lookAtTask(id, account, rev) {
      tasks.forget(id);
      const task = await tasks.look(id, rev);
      if (task !== undefined) return timed(await withoutGoneChannels(task));
      log.error({ task: id }, 'a task has a workflow but no record');
      await ledger.void({ account, task: id, note: 'the task has no record' });
      return viewOf(task, deps);
    },

    async stepTask(id, event) {
      // After a clock jump, it is unknown whether the deadline has passed, so change nothing. The workflow asks again
      // later.
      if (event.kind === 'wanted' && event.stop === 'expire' && !deps.isTimeRight())
        return timed(await tasks.confirm(id));
      if (event.kind === 'skipped') return timed(await skip(id, event.channels));
      const { task } = await tasks.step(id, event);
      const beginsRound = task !== undefined && event.kind === 'resumed';
      return timed(beginsRound ? await withoutGoneChannels(task) : task);
    },

    async wakeTask(id, activity) {
      const tried = await deps.workflows.tryNow(id, activity);
      if (tried.kind !== 'heard') return tried;
      return { kind: 'tried', ended: progressOf(rememberedPolls(tried.details)) };
    },
  };

  function timed(task: Task | undefined): TaskView {
    if (task === undefined || !deps.isTimeRight()) return viewOf(task, deps);
    return { ...viewOf(task, deps), remainingMs: task.deadlineAt - deps.now() };
  }

  /**
   * Removes channels that are no longer configured. No worker serves their queues, so the task would wait there
   * forever.
   */
  async function withoutGoneChannels(task: Task): Promise<Task> {
    if (!isIdle(task.state)) return task;
    const gone = await goneOf(task.state.left.map(({ channel }) => channel));
    if (gone.length === 0) return task;
    if (deps.isConfigCurrent()) await tasks.setConcern(task.id, 'channel_gone');
    return (await skip(task.id, gone)) ?? task;
  }

  /** Removes the channels from the round and frees the task's slots on them, because nothing else would. */
  async function skip(id: string, channels: readonly string[]): Promise<Task | undefined> {
    const { ok, task } = await tasks.step(id, { kind: 'skipped', channels });
    if (!ok) return task;
    const { candidates, fallback } = task.plan;
    const left = [...candidates, ...(fallback?.candidates ?? [])];
    for (const candidate of left)
      if (channels.includes(candidate.channel)) await deps.slots.release(id, candidate);
    return task;
  }

  /**
   * Returns the channels that are no longer configured. If this process failed to load the newest configuration,
   * another worker may know a channel that it does not, so only channels without a worker are returned.
   */
  async function goneOf(left: readonly string[]): Promise<readonly string[]> {
    const unknown = left.filter((channel) => deps.channels(channel) === undefined);
    if (unknown.length === 0 || deps.isConfigCurrent()) return unknown;
    const { unserved } = await deps.workers();
    return unknown.filter((channel) => unserved(channel) !== undefined);
  }
}
