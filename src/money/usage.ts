import type { Micros } from './money.ts';

/** By what usage is added up, in the order of the answer. */
export const usageDimensions = ['day', 'account', 'model', 'key', 'end_user'] as const;
export type UsageDimension = (typeof usageDimensions)[number];

export interface UsageAsked {
  /** Absent: all accounts. */
  readonly account?: string;
  /** Undefined: all keys of the account. */
  readonly key?: string;
  /** Days such as `2026-11-23`, in UTC; `before` itself is not among them. */
  readonly from: string;
  readonly before: string;
  /** None: one row for everything. */
  readonly by: readonly UsageDimension[];
}

/** Of the tasks that were held on these days, whenever they ended. */
export interface UsageRow {
  /** Only what was asked for; undefined: the tasks name none. */
  readonly of: Readonly<Partial<Record<UsageDimension, string>>>;
  readonly tasks: number;
  readonly settled: number;
  readonly released: number;
  /** Neither settled nor released. */
  readonly open: number;
  readonly charged: Micros;
  readonly refunded: Micros;
}

/** Over several days; day by day there may be as many as there are. */
export class TooManyGroupsError extends Error {
  readonly max: number;

  constructor(max: number) {
    super(`more than ${max} groups`);
    this.name = 'TooManyGroupsError';
    this.max = max;
  }
}
