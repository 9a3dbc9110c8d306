import type { LedgerEntry } from '../../ledger/entry.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ImageLeaseStore } from '../../store/image-leases.ts';

export interface CloseHoldDeps {
  readonly leases: Pick<ImageLeaseStore, 'owedFor' | 'paid'>;
  readonly ledger: Pick<Ledger, 'settle' | 'release' | 'blockHold' | 'entriesOfTask'>;
}

/**
 * Closes the open hold of an image whose request is no longer being served, and completes a partly written charge.
 * Idempotent. If the hold does not exist yet, it will be rejected, however late it is written.
 */
export type CloseHold = (image: string, account: string) => Promise<'settled' | 'released' | 'was_closed'>;

export function createCloseHold({ leases, ledger }: CloseHoldDeps): CloseHold {
  return async function closeHold(task, account) {
    const entries = await ledger.entriesOfTask(task);
    const hold = entries.find(({ kind }) => kind === 'hold');
    if (hold === undefined) {
      const note = 'the request ended without a response';
      const closed = await ledger.blockHold({ account, task, note });
      if (closed === 'held') return closeHold(task, account);
      return closed === 'released' || closed === 'settled' ? closed : 'was_closed';
    }
    const { amount: held } = hold;
    const owed = await leases.owedFor(task);
    if (owed !== undefined) {
      const { charge, basis, upstream } = owed;
      const note = 'reconciled: delivered while the ledger was unavailable';
      await ledger.settle({ account, task, held, hold, amount: charge, basis, note, upstream });
      await leases.paid(task);
      return 'settled';
    }
    if (entries.length > 1 && isWhole(entries)) return 'was_closed';
    const note = 'reconciled: the request ended without a response';
    // The request may have been sent, but no channel was recorded, so its cost is unknown.
    const upstream = { model: hold.model ?? '', channel: '', cost: 0n, unknown: 1 };
    const done = await ledger.release({ account, task, held, hold, note, upstream });
    return done.closed === 'settled' ? 'settled' : 'released';
  };
}

/**
 * Returns false if a charge lacks its second entry. A charge beyond the hold has two, and the process or MongoDB may
 * fail between the two writes.
 */
function isWhole(entries: readonly LedgerEntry[]): boolean {
  const isOwed = entries.some(({ excess }) => excess !== undefined);
  return !isOwed || entries.some(({ kind }) => kind === 'charge_extra');
}
