import type { Micros } from './money.ts';

/** The dimensions for grouping usage, in the order of the response. */
export const usageDimensions = ['day', 'account', 'model', 'key', 'end_user'] as const;
export type UsageDimension = (typeof usageDimensions)[number];

export interface UsageAsked {
  /** The account. Undefined means all accounts. */
  readonly account?: string;
  /** The key. Undefined means all keys of the account. */
  readonly key?: string;
  /** The first day in UTC, such as `2026-11-23`. `before` is in the same form and exclusive. */
  readonly from: string;
  readonly before: string;
  /** The dimensions to group by. An empty list requests a single total. */
  readonly by: readonly UsageDimension[];
}

/** A group of tasks whose holds were taken on these days, no matter when the tasks ended. */
export interface UsageRow {
  /** The values of the requested dimensions. A value is undefined if the tasks have none. */
  readonly of: Readonly<Partial<Record<UsageDimension, string>>>;
  readonly tasks: number;
  readonly settled: number;
  readonly released: number;
  /** The number of tasks that are neither settled nor released. */
  readonly open: number;
  readonly charged: Micros;
  readonly refunded: Micros;
}

/** A multi-day query exceeded the group limit. A single-day query has no limit. */
export class TooManyGroupsError extends Error {
  readonly max: number;

  constructor(max: number) {
    super(`more than ${max} groups`);
    this.name = 'TooManyGroupsError';
    this.max = max;
  }
}
