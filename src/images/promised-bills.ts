import { setTimeout as sleep } from 'node:timers/promises';
import { periods } from '../base/periods.ts';
import { formatMicros, type Micros } from '../money/money.ts';
import type { Logger } from '../observability/log.ts';

export interface PromisedBill {
  readonly task: string;
  readonly account: string;
  readonly amount: Micros;
  readonly model: string;
  readonly channel: string;
}

/**
 * `noted`: MongoDB records the charge as owed, so another process can write it. `unwritten`: only this process knows
 * about the charge.
 */
export type BillState = 'written' | 'noted' | 'unwritten';

export interface PromisedBills {
  promise(bill: PromisedBill, write: () => Promise<BillState>): void;
  /**
   * Waits at most `maxMs` for every bill to be stored outside this process. Logs the remaining bills, so that an
   * operator can charge them.
   */
  stop(maxMs: number): Promise<void>;
}

/** The list of unwritten bills cannot grow while the ledger is unavailable, because no holds are taken then. */
export function createPromisedBills(log: Logger): PromisedBills {
  const unwritten = new Map<PromisedBill, Promise<void>>();

  async function writeUntilDone(write: () => Promise<BillState>, onNoted: () => void): Promise<void> {
    for (;;) {
      const state = await write().catch((): BillState => 'unwritten');
      if (state !== 'unwritten') onNoted();
      if (state === 'written') return;
      await sleep(periods.promisedBills.everyMs, undefined, { ref: false });
    }
  }

  return {
    promise(bill, write) {
      const noted = new Promise<void>((resolve) => {
        void writeUntilDone(write, () => {
          unwritten.delete(bill);
          resolve();
        });
      });
      unwritten.set(bill, noted);
    },
    async stop(maxMs) {
      const isOver = new AbortController();
      const late = sleep(maxMs, undefined, { signal: isOver.signal }).catch(() => undefined);
      await Promise.race([Promise.all(unwritten.values()), late]);
      isOver.abort();
      for (const bill of unwritten.keys())
        logUncharged(bill, 'this process is ending before MongoDB has responded', log);
    },
  };
}

export function logUncharged(
  { amount, ...bill }: PromisedBill,
  why: string,
  log: Pick<Logger, 'error'>,
): void {
  const { task, account } = bill;
  const charge = formatMicros(amount);
  log.error(
    { ...bill, amount: charge },
    `delivered images may remain uncharged because ${why}; if the account's ledger has no charge for them, add it with gateway accounts credit ${account} -${charge} --reference ${task}`,
  );
}
