import type { Micros } from './money.ts';

/** The dimensions for grouping margins, in the order of the response. */
export const marginDimensions = ['day', 'channel', 'model', 'account', 'key', 'end_user'] as const;
export type MarginDimension = (typeof marginDimensions)[number];

/**
 * A query for tasks that ended or were refunded on these days (UTC, `2026-01-31`). The first day is inclusive and the
 * second exclusive.
 */
export interface MarginAsked {
  readonly from: string;
  readonly before: string;
  /** The dimensions to group by. An empty list requests a single total. */
  readonly by: readonly MarginDimension[];
}

export interface MarginRow {
  /**
   * The values of the requested dimensions. Tasks that were never submitted have no channel, and tasks without a hold
   * have no key.
   */
  readonly of: Readonly<Partial<Record<MarginDimension, string>>>;
  /** The number of ended tasks. */
  readonly tasks: number;
  readonly charged: Micros;
  readonly refunded: Micros;
  /** The known part of the cost. */
  readonly cost: Micros;
  /** The number of attempts whose cost is unknown. */
  readonly unknown: number;
}

export function marginOf({
  charged,
  refunded,
  cost,
}: Pick<MarginRow, 'charged' | 'refunded' | 'cost'>): Micros {
  return charged - refunded - cost;
}
