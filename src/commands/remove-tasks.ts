import type { IsOver } from '../base/walk.ts';
import type { ExchangeStore } from '../store/exchanges.ts';
import type { RequestStore } from '../store/requests.ts';
import type { TaskStore } from '../store/tasks.ts';

export interface RemoveTasksDeps {
  readonly tasks: Pick<TaskStore, 'removeEnded'>;
  readonly requests: Pick<RequestStore, 'removeMany'>;
  readonly exchanges: Pick<ExchangeStore, 'removeMany'>;
  readonly removeCopies: RemoveCopies;
}

export type RemoveCopies = (ids: readonly string[], isOver: IsOver) => Promise<readonly string[]>;

/** Keeps the ledger entries of the tasks. Returns the number of records removed. */
export type RemoveTasks = (ids: readonly string[], isOver: IsOver) => Promise<number>;

/** Removes the records last so that another process can continue after a crash. */
export function createRemoveTasks(deps: RemoveTasksDeps): RemoveTasks {
  return async (asked, isOver) => {
    const ids = await deps.removeCopies(asked, isOver);
    await Promise.all([deps.requests.removeMany(ids), deps.exchanges.removeMany(ids)]);
    return deps.tasks.removeEnded(ids);
  };
}
