import { divideHalfUp } from './money.ts';
import type { Micros } from './money.ts';

/** Fewer complete days say too little about a month. */
export const projectionDaysMin = 3;

export interface MonthSoFar {
  /** Micro-units used in the calendar month (UTC), including today. */
  readonly used: Micros;
  readonly today: Micros;
  /** Unix milliseconds. */
  readonly now: number;
  /** Unix milliseconds. Nothing was used before this time. */
  readonly since: number;
}

export interface Projection {
  /** The projected total of the month, or undefined if too little is known. */
  readonly projected?: Micros;
  /** How many complete days of this month the projection is based on. */
  readonly days: number;
}

/**
 * Assumes that each remaining day costs the average of the month's complete days. Today counts for that average, or for
 * what it has already used if that is more.
 */
export function projectMonth({ used, today, now, since }: MonthSoFar): Projection {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const first = Math.max(Date.UTC(year, month), since);
  const days = date.getUTCDate() - new Date(first).getUTCDate();
  if (days < projectionDaysMin) return { days: Math.max(days, 0) };
  const remaining = new Date(Date.UTC(year, month + 1, 0)).getUTCDate() - date.getUTCDate();
  const before = used > today ? used - today : 0n;
  const average = (count: number) => divideHalfUp(before * BigInt(count), BigInt(days));
  const whole = average(1) > today ? average(remaining + 1) : today + average(remaining);
  return { projected: before + whole, days };
}
