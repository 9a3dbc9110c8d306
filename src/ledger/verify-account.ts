import { closedAt } from '../money/ledger-basis.ts';
import { defined } from '../base/defined.ts';
import { emptyHead, entryId, keys, type EntryDocument, type EntryHash, type Head } from './entry.ts';
import type { Micros } from '../money/money.ts';
import { spentChange } from './spent.ts';
import { createSpentCheck } from './verify-spent.ts';

export const invariants = [
  'balances_equal_chain',
  'spent_equals_entries',
  'sequence_without_gap',
  'hash_chain_intact',
  'one_hold_and_one_close',
  'settled_in_full',
  'charge_is_priced',
  'refunded_within_charge',
  'ends_at_anchored_head',
  'open_hold_is_live',
  'terminal_task_is_closed',
  'charged_is_succeeded',
  'unfinished_task_is_held',
  'record_is_known',
] as const;
export type Invariant = (typeof invariants)[number];

export interface Violation {
  readonly invariant: Invariant;
  readonly account?: string;
  readonly task?: string;
  readonly message: string;
}

export type Report = (violation: Violation) => void;

export interface AccountCheckDeps {
  readonly hash: EntryHash;
  readonly report: Report;
}

export interface AccountCheck {
  /**
   * Must be called in `seq` order. Fields with invalid types are replaced in the returned entry, so other checks can
   * use it safely.
   */
  next(entry: EntryDocument): EntryDocument;
  head(): Head;
  readonly openHolds: ReadonlyMap<string, OpenedHold>;
  /** By task id: the part of a charge above its hold that still lacks a `charge_extra`. */
  readonly owedExtras: ReadonlyMap<string, Micros>;
}

export type OpenedHold = Pick<EntryDocument, 'amount' | 'at'>;

/**
 * Checks one account's chain, entry by entry. Only open holds are kept in memory. After a fault, the check continues
 * from the entry's own values, so that each fault is reported once. It cannot detect a truncated chain. The anchored
 * heads and the task records reveal that.
 */
export function createAccountCheck(account: string, { hash, report }: AccountCheckDeps): AccountCheck {
  const open: OpenTasks = { openHolds: new Map(), owedExtras: new Map() };
  const spent = createSpentCheck();
  let last: Head = emptyHead;

  function next(stored: EntryDocument): EntryDocument {
    const onViolation: OnViolation = (invariant, message) =>
      report({
        invariant,
        account,
        ...defined({ task: stored.task }),
        message: `${stored._id}: ${message}`,
      });
    const entry = readEntry(stored, last, onViolation);
    if (entry.seq !== last.seq + 1n || entry._id !== entryId(account, entry.seq)) {
      onViolation('sequence_without_gap', `seq ${entry.seq} follows ${last.seq}`);
    }
    if (entry.prev_hash !== last.hash) {
      onViolation('hash_chain_intact', 'prev_hash is not the hash of the previous entry');
    }
    if (!isHashed(stored, hash)) onViolation('hash_chain_intact', 'the hash does not match the content');
    const shape = shapeFault(entry);
    if (shape !== undefined) onViolation(shape.invariant, shape.message);
    const change = replay(entry, open, onViolation);
    if (change !== undefined) {
      compareBalances(entry, balancesAfter(last, change), onViolation);
      const fault = spent.next(entry, spentChange(change));
      if (fault !== undefined) onViolation('spent_equals_entries', fault);
    }
    last = entry;
    return entry;
  }

  return { next, head: () => last, ...open };
}

/** Returns false if the hash is wrong, or if manual edits left values that cannot be hashed. */
function isHashed(entry: EntryDocument, hash: EntryHash): boolean {
  try {
    return entry.hash === hash(entry);
  } catch {
    return false;
  }
}

type OnViolation = (invariant: Invariant, message: string) => void;

interface OpenTasks {
  readonly openHolds: Map<string, OpenedHold>;
  readonly owedExtras: Map<string, Micros>;
}

const integers = ['seq', 'amount', 'available', 'held'] as const;

/**
 * After manual edits in MongoDB, a field may have any type. Such a field is reported and replaced with the value that
 * the chain implies, so that one bad entry does not stop the verification.
 */
function readEntry(stored: EntryDocument, last: Head, onViolation: OnViolation): EntryDocument {
  const entry = withoutMistyped(stored, onViolation);
  if (integers.every((name) => typeof entry[name] === 'bigint')) return entry;
  const read = (name: (typeof integers)[number], otherwise: bigint): bigint => {
    const value: unknown = entry[name];
    if (typeof value === 'bigint') return value;
    onViolation('balances_equal_chain', `${name} is not an int64`);
    return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : otherwise;
  };
  return {
    ...entry,
    seq: read('seq', last.seq + 1n),
    amount: read('amount', 0n),
    available: read('available', last.available),
    held: read('held', last.held),
  };
}

function withoutMistyped(stored: EntryDocument, onViolation: OnViolation): EntryDocument {
  const { key, at, account, hash, prev_hash, spent, excess, ...rest } = stored;
  const { task, basis, note, key_id, model, end_user, day, ...others } = rest;
  const typed = <Value>(name: string, value: Value, isOfType: boolean): Value | undefined => {
    if (isOfType) return value;
    onViolation('hash_chain_intact', `${name} has a type that no entry has`);
    return undefined;
  };
  const text = <Value>(name: string, value: Value): Value | undefined =>
    value === undefined ? undefined : typed(name, value, typeof value === 'string');
  return {
    ...others,
    key: text('key', key) ?? '',
    account: text('account', account) ?? '',
    hash: text('hash', hash) ?? '',
    prev_hash: text('prev_hash', prev_hash) ?? '',
    at: typed('at', at, typeof at === 'number') ?? 0,
    ...defined({
      task: text('task', task),
      basis: text('basis', basis),
      note: text('note', note),
      key_id: text('key_id', key_id),
      model: text('model', model),
      end_user: text('end_user', end_user),
      day: text('day', day),
      spent: spent && typed('spent', spent, isList(spent)),
      excess: excess === undefined ? undefined : typed('excess', excess, typeof excess === 'bigint'),
    }),
  };
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null);
}

function replay(entry: EntryDocument, open: OpenTasks, onViolation: OnViolation): Balances | undefined {
  const { kind, amount } = entry;
  const task = entry.task ?? '';
  switch (kind) {
    case 'credit':
    case 'adjust':
      return { available: amount, held: 0n };
    case 'refund':
      return { available: amount, held: 0n };
    case 'hold':
      if (open.openHolds.has(task)) onViolation('one_hold_and_one_close', 'a second hold');
      open.openHolds.set(task, { amount, at: entry.at });
      return { available: -amount, held: amount };
    case 'void':
      if (open.openHolds.has(task))
        onViolation('one_hold_and_one_close', 'a void for a task that has a hold');
      return { available: 0n, held: 0n };
    case 'settle':
    case 'release': {
      const hold = open.openHolds.get(task)?.amount;
      if (hold === undefined) {
        onViolation('one_hold_and_one_close', `a ${kind} without an open hold`);
        return undefined;
      }
      open.openHolds.delete(task);
      if (kind === 'release' ? amount !== hold : amount > hold) {
        onViolation('balances_equal_chain', `a ${kind} of ${amount} on a hold of ${hold}`);
      }
      if (entry.excess !== undefined) open.owedExtras.set(task, entry.excess);
      return { available: kind === 'settle' ? hold - amount : hold, held: -hold };
    }
    case 'charge_extra': {
      const owed = open.owedExtras.get(task) ?? 0n;
      if (owed !== amount)
        onViolation('settled_in_full', `a charge_extra of ${amount}, although ${owed} is owed`);
      open.owedExtras.delete(task);
      return { available: -amount, held: 0n };
    }
    default:
      kind satisfies never;
      onViolation('balances_equal_chain', `unknown kind ${String(kind)}`);
      return undefined;
  }
}

function balancesAfter(last: Head, change: Balances): Balances {
  return { available: last.available + change.available, held: last.held + change.held };
}

function compareBalances(
  entry: EntryDocument,
  { available, held }: Balances,
  onViolation: OnViolation,
): void {
  if (entry.available === available && entry.held === held) return;
  onViolation(
    'balances_equal_chain',
    `available ${entry.available}, held ${entry.held}; the chain gives ${available} and ${held}`,
  );
}

interface Balances {
  readonly available: Micros;
  readonly held: Micros;
}

/** The key check, together with the unique index on `key`, rules out a second entry for the same operation. */
function shapeFault(entry: EntryDocument): Pick<Violation, 'invariant' | 'message'> | undefined {
  const { kind, amount, key, account, task } = entry;
  if (!isAmountOf(kind, amount)) {
    return { invariant: 'balances_equal_chain', message: `a ${kind} of ${amount}` };
  }
  if (entry.excess !== undefined && (kind !== 'settle' || entry.excess <= 0n)) {
    return { invariant: 'settled_in_full', message: `a ${kind} with an excess of ${entry.excess}` };
  }
  if (kind === 'credit' || kind === 'adjust') {
    if (key.startsWith(keys.credit(account, ''))) return undefined;
  } else if (task !== undefined && key === expectedKey(kind, task)) {
    return undefined;
  }
  return { invariant: 'one_hold_and_one_close', message: `a ${kind} with the key ${key}` };
}

function isAmountOf(kind: EntryDocument['kind'], amount: Micros): boolean {
  switch (kind) {
    case 'adjust':
      return amount < 0n;
    case 'void':
      return amount === 0n;
    case 'refund':
      return amount > 0n;
    case 'credit':
    case 'hold':
    case 'settle':
    case 'release':
    case 'charge_extra':
      return amount >= 0n;
    default:
      // `replay` reports any other kind, which only a manual edit can have produced.
      kind satisfies never;
      return true;
  }
}

function expectedKey(kind: Exclude<EntryDocument['kind'], 'credit' | 'adjust'>, task: string): string {
  switch (kind) {
    case 'hold':
    case 'void':
      return keys.hold(task);
    case 'settle':
    case 'release':
      return keys.close(task);
    case 'charge_extra':
      return keys.chargeExtra(task);
    case 'refund':
      return keys.refund(task);
    default:
      return kind satisfies never;
  }
}

export interface ClosedTask {
  readonly account: string;
  readonly task: string;
  readonly kind: 'settle' | 'release';
  readonly charged: Micros;
  readonly at: number;
  readonly note: string | undefined;
}

export function closedTask(entry: EntryDocument): ClosedTask | undefined {
  const { account, task, kind, at, note } = entry;
  if (task === undefined || (kind !== 'settle' && kind !== 'release')) return undefined;
  return { account, task, kind, at, note, charged: closedAt(entry) };
}

/** Refunds are compared with their settles later, because the settle may be far back in the chain. */
export interface RefundedTask {
  readonly account: string;
  readonly task: string;
  readonly seq: bigint;
  readonly amount: Micros;
}

export function refundedTask({ account, task, kind, seq, amount }: EntryDocument): RefundedTask | undefined {
  return task === undefined || kind !== 'refund' ? undefined : { account, task, seq, amount };
}
