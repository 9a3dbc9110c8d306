import { divideHalfUp, type Micros } from './money.ts';

export const projectionDaysMin = 3;

export interface MonthSoFar {
  /** In micro-units, for the UTC calendar month so far, including today. */
  readonly used: Micros;
  readonly today: Micros;
  readonly now: number;
  /** Unix milliseconds. There was no usage before this time. */
  readonly since: number;
}

export interface Projection {
  readonly projected?: Micros;
  readonly days: number;
}

/**
 * Assumes that each remaining day costs the average of the month's complete days. For today, assumes that average or
 * what has been used today, whichever is higher.
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
