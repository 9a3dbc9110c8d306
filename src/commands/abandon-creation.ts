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

/** One attempt to create a task. A repeated request makes another attempt with the same task id. */
export interface CreationTry {
  readonly task: string;
  readonly account: string;
  readonly key?: string;
  readonly tryId: string;
  /** Whether there is nothing to void, because the hold was rejected and no earlier attempt can have one. */
  readonly neverHeld?: boolean;
}

/**
 * What happened to the creation. `begun`: nothing was done, because the task belongs to its workflow. `taken_over`:
 * nothing was done, because another attempt is continuing the creation. `absent`: the task has no record.
 */
export type AbandonOutcome = 'abandoned' | 'begun' | 'taken_over' | 'absent';

/**
 * Undoes what creating a task has written, if the creation still belongs to this attempt. The record is marked first
 * and removed last so that the reconciler finds what a crash leaves behind. In between, the hold is voided so that a
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
    if (record === undefined) return 'absent';
    await Promise.all([
      neverHeld ? undefined : ledger.void({ account, task, note: abandonedNote }),
      requests.remove(task, tryId),
    ]);
    await tasks.removeAbandoned(task);
    return 'abandoned';
  };
}

export function hasBegun({ state }: Pick<Task, 'state'>): boolean {
  return state.at !== 'creating' && !isAbandoned(state);
}
