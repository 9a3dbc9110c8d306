import { defined } from '../base/defined.ts';
import type { EndUserNames } from '../store/end-user-names.ts';
import type { Spending } from '../money/cap-alerts.ts';
import type { MarginAsked, MarginRow } from '../money/margin.ts';
import type { UsageAsked, UsageRow } from '../money/usage.ts';
import { findBalanceBefore } from './balance-before.ts';
import { findSuccessors, type LedgerCollection } from './collection.ts';
import { toEntry, type LedgerEntry } from './entry.ts';
import type { Heads } from './heads.ts';
import type { Balance } from './ledger.ts';
import { readMargin } from './margin.ts';
import { checkAccount } from './operation.ts';
import { readSettledImages, type SettledImagesAsked } from './settled-images.ts';
import { usesAfter } from './spent.ts';
import { openStatement, type Period, type Statement } from './statement.ts';
import { readUsage } from './usage.ts';

export interface History {
  entries(account: string, page: EntriesPage): Promise<LedgerEntry[]>;
  spendings(account: string, page: EntriesPage): Promise<(Spending & { readonly seq: bigint })[]>;
  balanceBefore(account: string, time: number): Promise<Balance>;
  statement(account: string, period: Period): Promise<Statement>;
  /**
   * Returns the usage from entries written before this call. Rows are read only as they are consumed.
   * @throws TooManyGroupsError
   */
  usage(asked: UsageAsked): AsyncIterable<UsageRow>;
  settledImages(asked: SettledImagesAsked): AsyncIterable<string>;
  /**
   * Returns the margin on tasks that finished before this call.
   * @throws TooManyGroupsError
   */
  margin(asked: MarginAsked): AsyncIterable<MarginRow>;
}

interface EntriesPage {
  readonly after?: bigint;
  readonly limit: number;
}

const pageEntriesMax = 1_000;

export interface HistoryDeps {
  readonly collection: LedgerCollection;
  readonly heads: Pick<Heads, 'refresh'>;
  readonly endUsers: EndUserNames;
}

export function createHistory({ collection, heads, endUsers }: HistoryDeps): History {
  const history: History = {
    async entries(account, page) {
      const limit = Math.min(Math.max(page.limit, 1), pageEntriesMax);
      const range = { after: page.after ?? 0n, limit };
      const found = await findSuccessors(collection, checkAccount(account), range);
      return found.map((document) => toEntry(document, endUsers));
    },

    async spendings(account, page) {
      return (await history.entries(account, page)).map(toSpending);
    },

    async balanceBefore(account, time) {
      const { seq: last } = await heads.refresh(checkAccount(account));
      return findBalanceBefore(collection, { account, last, time });
    },

    usage: (asked) => readUsage({ collection, endUsers }, asked),
    settledImages: (asked) => readSettledImages(collection, asked),
    margin: (asked) => readMargin({ collection, endUsers }, asked),

    statement: (account, period) => openStatement(history, account, period),
  };
  return history;
}

function toSpending(entry: LedgerEntry): Spending & { readonly seq: bigint } {
  const { seq, at, key_id: key, model, endUser } = entry;
  return { seq, at, by: defined({ key, model, endUser }), uses: usesAfter(entry) };
}
