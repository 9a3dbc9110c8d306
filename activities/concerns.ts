import type { Concern } from '../src/task/attention.ts';
import type { TaskActivityDeps } from './deps.ts';

/**
 * Creates functions that write or withdraw a concern in the record and signal each change to the workflow once. If the
 * workflow cannot be reached, they revert the change and throw. They return false if nothing has changed.
 */
export function createConcerns({ tasks, signals }: Pick<TaskActivityDeps, 'tasks' | 'signals'>) {
  return {
    note: async (id: string, concern: Concern): Promise<boolean> =>
      (await tasks.setConcern(id, concern)) &&
      orTakenBack(signals.concern(id, concern), () => tasks.withdrawConcern(id, concern)),
    withdraw: async (id: string, concern: Concern): Promise<boolean> =>
      (await tasks.withdrawConcern(id, concern)) &&
      orTakenBack(signals.concern(id, undefined), () => tasks.setConcern(id, concern)),
  };
}

async function orTakenBack(signalled: Promise<void>, takeBack: () => Promise<boolean>): Promise<true> {
  try {
    await signalled;
    return true;
  } catch (error) {
    await takeBack();
    throw error;
  }
}
