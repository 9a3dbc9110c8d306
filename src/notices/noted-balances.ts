import { LRUCache } from 'lru-cache';
import type { Micros } from '../money/money.ts';

/** What an account has left after an entry of its ledger. */
export interface BalanceAfter {
  readonly available: Micros;
  readonly seq: bigint;
}

/** What this process has seen of an account since the last look. */
export interface SeenBalances {
  readonly lowest: BalanceAfter;
  readonly last: BalanceAfter;
}

export interface NotedBalances {
  readonly note: (account: string, after: BalanceAfter) => void;
  /** All of them, by account; none is noted after that. */
  readonly take: () => Map<string, SeenBalances>;
  /** They could not be judged. Newer notes are kept. */
  readonly putBack: (balances: ReadonlyMap<string, SeenBalances>) => void;
}

const accountsMax = 10_000;

export function createNotedBalances(): NotedBalances {
  const noted = new LRUCache<string, SeenBalances>({ max: accountsMax });

  function note(account: string, { available, seq }: BalanceAfter): void {
    const after = { available, seq };
    const { lowest, last } = noted.get(account) ?? { lowest: after, last: after };
    noted.set(account, {
      lowest: available < lowest.available ? after : lowest,
      last: seq >= last.seq ? after : last,
    });
  }

  return {
    note,
    take() {
      const balances = new Map(noted.entries());
      noted.clear();
      return balances;
    },
    putBack(balances) {
      for (const [account, { lowest, last }] of balances) {
        for (const after of [lowest, last]) note(account, after);
      }
    },
  };
}
