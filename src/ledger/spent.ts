import type { CapScope, SpentUse } from '../money/caps.ts';
import type { Micros } from '../money/money.ts';
import { utcDay } from '../base/times.ts';

/**
 * What a key, an end user, or a key with one model has spent after an entry. Each task counts in the windows of its
 * hold. Every entry holds the sums of its scopes, so the last entry of a scope has its totals.
 */
export interface Spent {
  /** As `scopesOf` names it. */
  readonly scope: string;
  /** The last day (UTC, `2026-11-23`) on which the scope took a hold. */
  readonly day: string;
  /** The sums of that day, of its month, and of all time. */
  readonly today: SpentSum;
  readonly month: SpentSum;
  readonly total: SpentSum;
}

/** Micro-units. */
export interface SpentSum {
  /** Charges less refunds, plus open holds. */
  readonly used: Micros;
  /** Open holds. */
  readonly held: Micros;
}

const nothing: SpentSum = { used: 0n, held: 0n };

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
  return { scope, day: '', today: nothing, month: nothing, total: nothing };
}

/** Derives what an entry adds from its change of the balance: what it takes from `available` is used. */
export function spentChange({
  available,
  held,
}: {
  readonly available: Micros;
  readonly held: Micros;
}): SpentSum {
  return { used: -available, held };
}

/** Adds amounts, which may be negative, to the windows of their day. A window that has ended is dropped. */
export function addSpent(before: Spent, change: SpentSum, day: string): Spent {
  const { scope, total } = before;
  const last = latestDay([before.day, day]);
  const ofWindow = (sum: SpentSum, size: number): SpentSum => {
    const kept = windowOf(before.day, size) === windowOf(last, size) ? sum : nothing;
    return windowOf(day, size) === windowOf(last, size) ? plus(kept, change) : kept;
  };
  return {
    scope,
    day: last,
    today: ofWindow(before.today, dayCharacters),
    month: ofWindow(before.month, monthCharacters),
    total: plus(total, change),
  };
}

function plus(one: SpentSum, other: SpentSum): SpentSum {
  return { used: one.used + other.used, held: one.held + other.held };
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
  const { today, month, total } = addSpent(spent, nothing, day);
  return {
    day: { ...today, resetsAt: resetOf('day', day) },
    month: { ...month, resetsAt: resetOf('month', day) },
    total,
  };
}

/** What each scope of an entry had used after it, in the windows of the last hold of the scope. */
export function usesAfter(
  entry: Attribution & { readonly spent?: readonly Spent[] },
): ReadonlyMap<CapScope, SpentUse> {
  const sums = new Map(entry.spent?.map((spent) => [spent.scope, spent]));
  return new Map(
    scopesOf(entry).flatMap(({ of, id }) => {
      const sum = sums.get(id);
      return sum === undefined ? [] : [[of, useOn(sum, sum.day)] as const];
    }),
  );
}

function resetOf(window: 'day' | 'month', day: string): number {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return window === 'day' ? Date.UTC(year, month - 1, date + 1) : Date.UTC(year, month);
}
