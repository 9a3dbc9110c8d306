import { isDeepStrictEqual } from 'node:util';
import { defined } from '../base/defined.ts';
import type { EntryDocument } from './entry.ts';
import { addSpent, nothingSpent, scopesOf, type Spent, type SpentSum } from './spent.ts';

/**
 * Limits how many scopes are remembered per account. The least recently seen one is forgotten, and the next sums
 * recorded for it are trusted.
 */
const scopesMax = 50_000;

export function createSpentCheck() {
  const sums = new Map<string, Spent>();
  const spenders = new Map<string, Spender>();
  let isWhole = true;

  function remember(spent: Spent): void {
    // The map's order decides which scope is forgotten, so it matters only once the map is full.
    if (sums.size >= scopesMax) sums.delete(spent.scope);
    sums.set(spent.scope, spent);
    const [oldest] = sums.keys();
    if (sums.size <= scopesMax || oldest === undefined) return;
    sums.delete(oldest);
    isWhole = false;
  }

  return {
    next(entry: EntryDocument, change: SpentSum): string | undefined {
      const day = entry.day ?? '';
      const stored = entry.spent ?? [];
      const scopes = scopesOf(entry);
      let fault = spenderFault(entry, spenders);
      if (stored.length !== scopes.length) fault ??= `has ${stored.length} sums, not ${scopes.length}`;
      for (const { id } of scopes) {
        const found = stored.find(({ scope }) => scope === id);
        const last = sums.get(id) ?? (isWhole ? nothingSpent(id) : undefined);
        const expected = last === undefined ? found : addSpent(last, change, day);
        if (entry.kind === 'hold' && last !== undefined && day < last.day) {
          fault ??= `is held on ${day}, which is before ${last.day}`;
        }
        if (!isSame(found, expected)) {
          fault ??= `contains ${shown(found)} for ${id}; the chain gives ${shown(expected)}`;
        }
        // Continue from the entry's own value, so that a fault is reported only once.
        const kept = found !== undefined && isWellFormed(found) ? found : expected;
        if (kept !== undefined) remember(kept);
      }
      return fault;
    },
  };
}

type Spender = Pick<EntryDocument, 'key_id' | 'model' | 'end_user' | 'day'>;

function spenderFault(entry: EntryDocument, spenders: Map<string, Spender>): string | undefined {
  const { kind, task = '', key_id, model, end_user, day } = entry;
  if (kind === 'hold') {
    spenders.set(task, defined({ key_id, model, end_user, day }));
    return undefined;
  }
  if (kind === 'refund') return undefined;
  const held = spenders.get(task);
  if (kind === 'release' || kind === 'charge_extra' || (kind === 'settle' && entry.excess === undefined)) {
    spenders.delete(task);
  }
  if (held === undefined) return undefined;
  const isOwn =
    held.key_id === key_id && held.model === model && held.end_user === end_user && held.day === day;
  return isOwn ? undefined : `belongs to ${named(entry)}, but its hold belongs to ${named(held)}`;
}

function named({ key_id, model, end_user, day }: Spender): string {
  return JSON.stringify([key_id, model, end_user, day]);
}

function isSame(one: Spent | undefined, other: Spent | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.day === other.day && isDeepStrictEqual(sumsOf(one), sumsOf(other));
}

/** Manual edits in MongoDB may leave doubles or strings. */
function isWellFormed(spent: Spent): boolean {
  return typeof spent.day === 'string' && sumsOf(spent).every((sum) => typeof sum === 'bigint');
}

function shown(spent: Spent | undefined): string {
  return spent === undefined ? 'nothing' : `${spent.day} ${sumsOf(spent).map(String).join(', ')}`;
}

/** After manual edits in MongoDB, the amounts can have any type. */
function sumsOf({ today, month, total }: Spent): readonly unknown[] {
  return [today, month, total].flatMap((sum: Partial<SpentSum> | undefined) => [sum?.used, sum?.held]);
}
