import type { CapScope, SpentUse } from '../money/caps.ts';
import type { Micros } from '../money/money.ts';
import { utcDay } from '../base/times.ts';

/**
 * What a key, an end user, or a key with one model has spent once an entry is written: charges and open holds, each in
 * the windows of its hold. A scope's sums stand in each of its entries, so that the last one has them all.
 */
export interface Spent {
  /** As `scopesOf` names it. */
  readonly scope: string;
  /** The last day (UTC, `2026-11-23`) on which the scope took a hold. */
  readonly day: string;
  /** Micro-units: on that day, in its month, and in all. */
  readonly today: Micros;
  readonly month: Micros;
  readonly total: Micros;
}

/** The sums that a plan builds on, by scope. */
export type SpentBook = ReadonlyMap<string, Spent>;

export interface Attribution {
  readonly key_id?: string;
  readonly model?: string;
  readonly end_user?: string;
  readonly day?: string;
}

/** The scopes that entries of this attribution count in; none for entries that belong to nobody's task. */
export function scopesOf({ key_id: key, model, end_user: user }: Attribution): Scope[] {
  const scopes: Scope[] = [];
  if (key !== undefined) scopes.push({ of: 'key', id: `key:${key}` });
  if (key !== undefined && model !== undefined) scopes.push({ of: 'model', id: `model:${key}/${model}` });
  if (user !== undefined) scopes.push({ of: 'end_user', id: `user:${user}` });
  return scopes;
}

export interface Scope {
  readonly of: CapScope;
  readonly id: string;
}

export function nothingSpent(scope: string): Spent {
  return { scope, day: '', today: 0n, month: 0n, total: 0n };
}

/** Adds an amount, which may be negative, to the windows of its day; one that has ended is not shown any more. */
export function addSpent(before: Spent, amount: Micros, day: string): Spent {
  const { scope, total } = before;
  const last = latestDay([before.day, day]);
  const ofWindow = (sum: Micros, size: number): Micros => {
    const kept = windowOf(before.day, size) === windowOf(last, size) ? sum : 0n;
    return windowOf(day, size) === windowOf(last, size) ? kept + amount : kept;
  };
  return {
    scope,
    day: last,
    today: ofWindow(before.today, dayCharacters),
    month: ofWindow(before.month, monthCharacters),
    total: total + amount,
  };
}

const dayCharacters = '2026-11-23'.length;
const monthCharacters = '2026-11'.length;

function windowOf(day: string, characters: number): string {
  return day.slice(0, characters);
}

/**
 * The day that a hold counts for. A writer whose clock is behind takes the day of the last hold in any of its scopes: a
 * window that has begun for one writer has begun for all, so that none is counted from zero twice.
 */
export function dayOfHold(at: number, sums: readonly Spent[]): string {
  return latestDay([utcDay(at), ...sums.map(({ day }) => day)]);
}

function latestDay(days: readonly string[]): string {
  return days.reduce((latest, day) => (day > latest ? day : latest), '');
}

/** What a scope has used in the windows of a day that is not before its last. */
export function useOn(spent: Spent, day: string): SpentUse {
  const { today, month, total } = addSpent(spent, 0n, day);
  return {
    day: { used: today, resetsAt: resetOf('day', day) },
    month: { used: month, resetsAt: resetOf('month', day) },
    total: { used: total },
  };
}

function resetOf(window: 'day' | 'month', day: string): number {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return window === 'day' ? Date.UTC(year, month - 1, date + 1) : Date.UTC(year, month);
}
