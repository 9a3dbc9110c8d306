import { createRecent } from '../base/recent.ts';
import type { Micros } from '../money/money.ts';

export interface BalanceAfter {
  readonly available: Micros;
  readonly seq: bigint;
}

export interface SeenBalances {
  readonly lowest: BalanceAfter;
  readonly last: BalanceAfter;
}

export interface NotedBalances {
  readonly note: (account: string, after: BalanceAfter) => void;
  readonly take: () => Map<string, SeenBalances>;
  /** Puts back balances that could not be evaluated, unless newer ones have arrived. */
  readonly putBack: (balances: ReadonlyMap<string, SeenBalances>) => void;
}

const accountsMax = 10_000;

export function createNotedBalances(): NotedBalances {
  const noted = createRecent<SeenBalances>(accountsMax);

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
      const balances = new Map([...noted.entries()].toReversed());
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
