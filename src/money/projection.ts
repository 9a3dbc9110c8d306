import { divideHalfUp } from './money.ts';
import type { Micros } from './money.ts';

/** Fewer complete days say too little about a month. */
export const projectionDaysMin = 3;

export interface MonthSoFar {
  /** Micro-units of the calendar month (UTC), today's included. */
  readonly used: Micros;
  readonly today: Micros;
  /** Unix milliseconds. */
  readonly now: number;
  /** Unix milliseconds: nothing can have been used before. */
  readonly since: number;
}

export interface Projection {
  /** What the whole month comes to. Undefined: too little is known. */
  readonly projected?: Micros;
  /** Complete days of this month that it rests on. */
  readonly days: number;
}

/**
 * Each remaining day costs the average of the month's complete days. Today does, too, unless more was used already.
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
