import { isTerminal } from '../task/task.ts';
import type { KeySlotStore } from '../store/key-slots.ts';
import type { TaskStore } from '../store/tasks.ts';
import type { SlotKeeper } from './slot-keeper.ts';

/**
 * Gives back the slots of tasks that have ended without giving them back themselves (their workflow was terminated),
 * and fills what is free. Returns how many it gave back. Leases without a task document expire.
 */
export async function tidySlots(
  slots: Pick<SlotKeeper, 'holders' | 'release' | 'serveAll'>,
  tasks: Pick<TaskStore, 'findMany'>,
): Promise<number> {
  const holders = await tasks.findMany(await slots.holders());
  const ended = holders.filter(({ status }) => isTerminal(status));
  for (const { id } of ended) await slots.release(id);
  await slots.serveAll();
  return ended.length;
}

/** A task that has no document after this long was never admitted. */
const admissionMaxMs = 5 * 60_000;

/**
 * Removes from the keys' counts what is no longer an unfinished task: one that ended without its process releasing it,
 * and one whose admission died before it wrote anything. Returns how many it removed.
 */
export async function tidyKeySlots(
  slots: Pick<KeySlotStore, 'list' | 'release'>,
  tasks: Pick<TaskStore, 'findMany'>,
  now: () => number,
): Promise<number> {
  let released = 0;
  for (const { key, tasks: counted } of await slots.list()) {
    const found = await tasks.findMany(counted.map(({ task }) => task));
    const statuses = new Map(found.map(({ id, status }) => [id, status]));
    for (const { task, since } of counted) {
      const status = statuses.get(task);
      const ended = status === undefined ? since < now() - admissionMaxMs : isTerminal(status);
      if (!ended) continue;
      await slots.release(key, task);
      released += 1;
    }
  }
  return released;
}
