import type { Concern } from '../src/task/attention.ts';
import type { TaskActivityDeps } from './deps.ts';

/**
 * Each change to a concern is written to the record and signaled to the workflow once. If the workflow cannot be
 * reached, the change is reverted and the error is thrown. The functions return false if nothing changed.
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
