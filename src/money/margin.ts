import type { Micros } from './money.ts';

/** By what margins are added up, in the order of the answer. */
export const marginDimensions = ['day', 'channel', 'model', 'account', 'key', 'end_user'] as const;
export type MarginDimension = (typeof marginDimensions)[number];

/** What has ended, or was refunded, on these days (UTC, `2026-01-31`), from the first until before the second. */
export interface MarginAsked {
  readonly from: string;
  readonly before: string;
  /** None: one row for everything. */
  readonly by: readonly MarginDimension[];
}

export interface MarginRow {
  /** Has only the requested dimensions. Unsubmitted tasks have no channel, and tasks without a hold have no key. */
  readonly of: Readonly<Partial<Record<MarginDimension, string>>>;
  /** That have ended. */
  readonly tasks: number;
  readonly charged: Micros;
  readonly refunded: Micros;
  /** What is known of it. */
  readonly cost: Micros;
  /** Attempts whose cost is not known. */
  readonly unknown: number;
}

export function marginOf({
  charged,
  refunded,
  cost,
}: Pick<MarginRow, 'charged' | 'refunded' | 'cost'>): Micros {
  return charged - refunded - cost;
}
