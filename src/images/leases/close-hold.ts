import type { Ledger } from '../../ledger/ledger.ts';
import type { ImageLeaseStore } from '../../store/image-leases.ts';

export interface CloseHoldDeps {
  readonly leases: Pick<ImageLeaseStore, 'owedFor' | 'paid'>;
  readonly ledger: Pick<Ledger, 'settle' | 'release' | 'void' | 'entriesOfTask'>;
}

/**
 * Closes the hold of an image whose request is no longer served, if there is one and it is open. Repeatable. With the
 * account, a hold that does not exist yet is refused from then on, however late its write arrives.
 */
export type CloseHold = (image: string, account?: string) => Promise<'settled' | 'released' | 'was_closed'>;

/** Released, or settled where the images had been delivered. */
export function createCloseHold({ leases, ledger }: CloseHoldDeps): CloseHold {
  return async (task, owner) => {
    const entries = await ledger.entriesOfTask(task);
    const hold = entries.find(({ kind }) => kind === 'hold');
    if (hold === undefined) {
      if (owner === undefined) return 'was_closed';
      const { closed } = await ledger.void({
        account: owner,
        task,
        note: 'the request ended without an answer',
      });
      return closed === 'voided' ? 'was_closed' : closed;
    }
    const { account, amount: held } = hold;
    const amount = await leases.owedFor(task);
    if (amount !== undefined) {
      const note = 'reconciled: delivered, and the ledger was away';
      await ledger.settle({ account, task, held, amount, note });
      await leases.paid(task);
      return 'settled';
    }
    if (entries.length > 1) return 'was_closed';
    await ledger.release({ account, task, held, note: 'reconciled: the request ended without an answer' });
    return 'released';
  };
}
