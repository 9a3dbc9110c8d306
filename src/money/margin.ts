import type { Micros } from './money.ts';

export const marginDimensions = ['day', 'channel', 'model', 'account', 'key', 'end_user'] as const;
export type MarginDimension = (typeof marginDimensions)[number];

/**
 * UTC days such as `2026-01-31`, on which tasks finished or were refunded. `from` is inclusive and `before` exclusive.
 */
export interface MarginAsked {
  readonly from: string;
  readonly before: string;
  readonly by: readonly MarginDimension[];
}

export interface MarginRow {
  /**
   * The row's value in each dimension of the report. Tasks that were never submitted have no channel, and tasks without
   * a hold have no key.
   */
  readonly of: Readonly<Partial<Record<MarginDimension, string>>>;
  readonly tasks: number;
  readonly charged: Micros;
  readonly refunded: Micros;
  readonly cost: Micros;
  readonly unknown: number;
}

export function marginOf({
  charged,
  refunded,
  cost,
}: Pick<MarginRow, 'charged' | 'refunded' | 'cost'>): Micros {
  return charged - refunded - cost;
}
