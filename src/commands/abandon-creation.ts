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

/** An attempt to create a task, and how far it got. */
export interface CreationTry {
  readonly task: string;
  readonly account: string;
  /** The API key whose limit the task counts towards. Undefined if the key has no limit. */
  readonly key?: string;
  readonly tryId: string;
  /** Whether nothing needs to be voided, because the hold was refused and no earlier try can have taken one. */
  readonly neverHeld?: boolean;
}

/**
 * `begun` and `taken_over`: nothing was done, because the task belongs to its workflow or to another try. `absent`: the
 * task has no record.
 */
export type AbandonOutcome = 'abandoned' | 'begun' | 'taken_over' | 'absent';

/**
 * Undoes everything written while creating a task, if this try still owns the creation. The record is marked first and
 * removed last, so that the reconciler finds whatever a crash leaves behind. In between, the hold is voided, so that a
 * late hold or workflow start has no effect. Safe to repeat.
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
    // An earlier call has already removed the record.
    if (record === undefined) return 'absent';
    await Promise.all([
      neverHeld ? undefined : ledger.void({ account, task, note: abandonedNote }),
      requests.remove(task, tryId),
    ]);
    await tasks.removeAbandoned(task);
    return 'abandoned';
  };
}

/** Whether the workflow has taken over the task, so that its creation can no longer be abandoned. */
export function hasBegun({ state }: Pick<Task, 'state'>): boolean {
  return state.at !== 'creating' && !isAbandoned(state);
}
