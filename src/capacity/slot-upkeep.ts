import { isTerminal } from '../domain/task.ts';
import type { TaskStore } from '../store/tasks.ts';
import type { SlotKeeper } from './slot-keeper.ts';

/**
 * Gives back the slots of tasks that have ended without giving them back themselves (their workflow was terminated),
 * and fills what is free. Says how many it gave back. Leases without a task document run out by themselves.
 */
export async function tidySlots(
  slots: Pick<SlotKeeper, 'holders' | 'release' | 'serveAll'>,
  tasks: Pick<TaskStore, 'findMany'>,
): Promise<number> {
  const holders = await tasks.findMany(await slots.holders());
  const ended = holders.filter(({ status }) => isTerminal(status));
  for (const { _id } of ended) await slots.release(_id);
  await slots.serveAll();
  return ended.length;
}
