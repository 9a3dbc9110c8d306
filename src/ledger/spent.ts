import type { CapScope, SpentUse } from '../money/caps.ts';
import type { Micros } from '../money/money.ts';
import { utcDay } from '../base/times.ts';

/**
 * What a key, an end user, or a key with one model has spent so far. Every entry repeats the sums of its scopes, so the
 * latest entry of a scope has its totals. A task is counted on the day of its hold.
 */
export interface Spent {
  readonly scope: string;
  readonly day: string;
  readonly today: SpentSum;
  readonly month: SpentSum;
  readonly total: SpentSum;
}

export interface SpentSum {
  readonly used: Micros;
  readonly held: Micros;
}

const nothing: SpentSum = { used: 0n, held: 0n };

export type SpentBook = ReadonlyMap<string, Spent>;

export interface Attribution {
  readonly key_id?: string;
  readonly model?: string;
  readonly end_user?: string;
  readonly day?: string;
}

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

/** Everything that an entry takes from `available` counts as spent. */
export function spentChange({
  available,
  held,
}: {
  readonly available: Micros;
  readonly held: Micros;
}): SpentSum {
  return { used: -available, held };
}

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
 * Returns the writer's own day or, if later, the day of the latest hold in any of the scopes. A writer whose clock lags
 * therefore cannot return to an earlier day and reset the sums.
 */
export function dayOfHold(at: number, sums: readonly Spent[]): string {
  return latestDay([utcDay(at), ...sums.map(({ day }) => day)]);
}

function latestDay(days: readonly string[]): string {
  return days.reduce((latest, day) => (day > latest ? day : latest), '');
}

/** @param day - Must not precede the scope's last day. */
export function useOn(spent: Spent, day: string): SpentUse {
  const { today, month, total } = addSpent(spent, nothing, day);
  return {
    day: { ...today, resetsAt: resetOf('day', day) },
    month: { ...month, resetsAt: resetOf('month', day) },
    total,
  };
}

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
