import type { Micros } from './money.ts';

export const usageDimensions = ['day', 'account', 'model', 'key', 'end_user'] as const;
export type UsageDimension = (typeof usageDimensions)[number];

export interface UsageAsked {
  readonly account?: string;
  readonly key?: string;
  /** UTC days such as `2026-11-23`. `before` is exclusive. */
  readonly from: string;
  readonly before: string;
  readonly by: readonly UsageDimension[];
}

/** Covers tasks whose holds were made on the requested days, no matter when the tasks finished. */
export interface UsageRow {
  readonly of: Readonly<Partial<Record<UsageDimension, string>>>;
  readonly tasks: number;
  readonly settled: number;
  readonly released: number;
  readonly open: number;
  readonly charged: Micros;
  readonly refunded: Micros;
}

/** Thrown if a query over several days exceeds the limit on groups. Queries for a single day have no limit. */
export class TooManyGroupsError extends Error {
  readonly max: number;

  constructor(max: number) {
    super(`more than ${max} groups`);
    this.name = 'TooManyGroupsError';
    this.max = max;
  }
}
