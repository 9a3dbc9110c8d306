import type { Task } from '../task/record.ts';
import { abandonedNote } from '../money/ledger-basis.ts';
import { isAbandoned } from '../task/state.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { KeySlotStore } from '../store/key-slots.ts';
import type { RequestStore } from '../store/requests.ts';
import type { TaskStore } from '../store/tasks.ts';

export interface AbandonCreationDeps {
  readonly tasks: Pick<TaskStore, 'step' | 'removeAbandoned'>;
  readonly requests: Pick<RequestStore, 'remove'>;
  readonly ledger: Pick<Ledger, 'void'>;
  readonly keySlots: Pick<KeySlotStore, 'release'>;
}

/** The creation of a task, as far as one try of it came. */
export interface CreationTry {
  readonly task: string;
  readonly account: string;
  /** The id of the API key that counts it among its unfinished tasks. Absent: the key has no limit. */
  readonly key?: string;
  readonly tryId: string;
  /** Its hold was refused, and no earlier try can have taken one: there is nothing to void. */
  readonly neverHeld?: boolean;
}

/**
 * `begun`, `taken_over`: the task is its workflow's, or another try's, and nothing was done. `absent`: it has no record.
 */
export type AbandonOutcome = 'abandoned' | 'begun' | 'taken_over' | 'absent';

/**
 * Undoes everything that the creation of a task has written, if it is still this try's. The record is marked first and
 * removed last, so that a crash in between leaves what the reconciler finds. The hold is voided in between, so that
 * neither its own late write nor a late start of the workflow counts. Repeatable.
 */
export type AbandonCreation = (creation: CreationTry) => Promise<AbandonOutcome>;

export function createAbandonCreation({
  tasks,
  requests,
  ledger,
  keySlots,
}: AbandonCreationDeps): AbandonCreation {
  return async ({ task, account, key, tryId, neverHeld = false }) => {
    const abandoned = await tasks.step(task, { kind: 'abandoned', tryId });
    const { task: record } = abandoned;
    if (record !== undefined && !abandoned.ok) return hasBegun(record) ? 'begun' : 'taken_over';
    if (key !== undefined) await keySlots.release(key, task);
    // A removed record is what an earlier try of this has left.
    if (record === undefined) return 'absent';
    await Promise.all([
      neverHeld ? undefined : ledger.void({ account, task, note: abandonedNote }),
      requests.remove(task, tryId),
    ]);
    await tasks.removeAbandoned(task);
    return 'abandoned';
  };
}

/** Its workflow has it: nobody can abandon its creation any more. */
export function hasBegun({ state }: Pick<Task, 'state'>): boolean {
  return state.at !== 'creating' && !isAbandoned(state);
}
