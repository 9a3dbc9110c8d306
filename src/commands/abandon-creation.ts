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

/** One attempt to create a task. Repeated requests share the task id, and each is a separate attempt. */
export interface CreationTry {
  readonly task: string;
  readonly account: string;
  readonly key?: string;
  readonly tryId: string;
  /** True if no attempt can have made a hold, so there is none to void. */
  readonly neverHeld?: boolean;
}

/**
 * - `begun`: nothing was undone, because the workflow already owns the task.
 * - `taken_over`: nothing was undone, because another attempt is continuing the creation.
 * - `absent`: the task has no record.
 */
export type AbandonOutcome = 'abandoned' | 'begun' | 'taken_over' | 'absent';

/**
 * Undoes a creation, if this attempt still owns it. The record is marked first and removed last, so the reconciler can
 * finish the job after a crash. The hold is voided in between, so a late hold or workflow start has no effect.
 * Idempotent.
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
