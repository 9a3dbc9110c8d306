import { closedAt } from '../money/ledger-basis.ts';
import { capStates, refusingCap, type CapState } from '../money/caps.ts';
import { defined } from '../base/defined.ts';
import { amountMax, type Micros } from '../money/money.ts';
import {
  attributionOfSpender,
  extraDraft,
  holdDraft,
  refundDraft,
  releaseDraft,
  settleDrafts,
  voidDraft,
} from './drafts.ts';
import { chainEntry, keys, type Draft, type Head, type EntryDocument, type Seal } from './entry.ts';
import { LedgerIntegrityError } from './ledger-errors.ts';
import { addSpent, dayOfHold, scopesOf, spentChange, useOn, type Spent, type SpentBook } from './spent.ts';
import type {
  CreditOperation,
  HoldOperation,
  Operation,
  RefundOperation,
  ReleaseOperation,
  SettleOperation,
  VoidOperation,
} from './operation.ts';

export type Outcome =
  | { readonly state: 'done'; readonly entry: EntryDocument; readonly replayed: boolean }
  | { readonly state: 'refused'; readonly available: Micros }
  | { readonly state: 'capped'; readonly cap: CapState }
  | { readonly state: 'no_hold' }
  /** Nothing is held for the task, and no hold can follow. */
  | { readonly state: 'voided' }
  | { readonly state: 'not_settled' }
  | { readonly state: 'above_charge'; readonly charged: Micros }
  | { readonly state: 'failed'; readonly error: unknown };

export type KnownEntries = ReadonlyMap<string, EntryDocument>;

interface PlannedOperation {
  readonly outcome: Outcome;
  /** The outcome is valid only if at least this many of the plan's entries are written. */
  readonly entriesNeeded: number;
}

export interface Plan {
  readonly entries: readonly EntryDocument[];
  readonly operations: readonly PlannedOperation[];
}

/**
 * Returns the keys to read before the first attempt. Other keys need not be read, because the unique index rejects a
 * repeated operation.
 */
export function keysBeforeFirstTry(operation: Operation): string[] {
  switch (operation.kind) {
    case 'settle':
    case 'release':
      return operation.hold === undefined ? allKeys(operation) : [];
    case 'void':
    case 'refund':
      return allKeys(operation);
    case 'hold':
    case 'credit':
      return [];
    default:
      return operation satisfies never;
  }
}

export function allKeys(operation: Operation): string[] {
  switch (operation.kind) {
    case 'hold':
      return [keys.hold(operation.task), keys.close(operation.task)];
    case 'settle':
    case 'release':
    case 'void':
      return [keys.hold(operation.task), keys.close(operation.task), keys.chargeExtra(operation.task)];
    case 'refund':
      return [keys.close(operation.task), keys.chargeExtra(operation.task), keys.refund(operation.task)];
    case 'credit':
      return [keys.credit(operation.account, operation.reference)];
    default:
      return operation satisfies never;
  }
}

export interface PlanStart extends Seal {
  readonly head: Head;
  readonly known: KnownEntries;
  readonly spent: SpentBook;
}

export function scopesOfBatch(operations: readonly Operation[], known: KnownEntries): ReadonlySet<string> {
  const scopes = operations.flatMap((operation) => {
    if (operation.kind === 'credit') return [];
    if (operation.kind === 'hold') return scopesOf(attributionOfSpender(operation.by));
    const { task } = operation;
    const source = known.get(keys.hold(task)) ?? known.get(keys.close(task));
    return scopesOf(source ?? ('hold' in operation ? operation.hold : undefined) ?? {});
  });
  return new Set(scopes.map(({ id }) => id));
}

/** A pure function. Each operation sees the effects of those before it. */
export function planBatch(operations: readonly Operation[], start: PlanStart): Plan {
  const known = new Map(start.known);
  const spent = new Map(start.spent);
  const entries: EntryDocument[] = [];
  let head = start.head;
  // Times must not decrease even if the clock lags, because past balances are found by time.
  const seal = { ...start, at: Math.max(start.at, head.at) };
  const planned = operations.map((operation) => {
    try {
      const step = planOperation(operation, { head, known, spent, at: seal.at });
      const added: EntryDocument[] = [];
      const sums = new Map<string, Spent>();
      for (const draft of step.drafts) {
        const after = spentAfter(draft, (scope) => sums.get(scope) ?? sumsOf(spent, scope));
        for (const sum of after) sums.set(sum.scope, sum);
        const counted = after.length === 0 ? draft : { ...draft, spent: after };
        added.push(chainEntry(added.at(-1) ?? head, counted, seal));
      }
      for (const entry of added) known.set(entry.key, entry);
      for (const [scope, sum] of sums) spent.set(scope, sum);
      entries.push(...added);
      head = added.at(-1) ?? head;
      return { outcome: step.outcome ?? doneBy(added), entriesNeeded: entries.length };
    } catch (error) {
      const outcome: Outcome = { state: 'failed', error };
      return { outcome, entriesNeeded: entries.length };
    }
  });
  return { entries, operations: planned };
}

function doneBy(added: readonly EntryDocument[]): Outcome {
  const [entry] = added;
  if (entry === undefined)
    throw new LedgerIntegrityError('an operation without an outcome must add an entry');
  return { state: 'done', entry, replayed: false };
}

interface Step {
  readonly drafts: readonly Draft[];
  readonly outcome?: Outcome;
}

type TaskOperation = SettleOperation | ReleaseOperation | VoidOperation | RefundOperation;

interface Books {
  readonly head: Head;
  readonly known: KnownEntries;
  readonly spent: SpentBook;
  readonly at: number;
}

function planOperation(operation: Operation, books: Books): Step {
  const { head, known } = books;
  switch (operation.kind) {
    case 'hold':
      return planHold(operation, books);
    case 'settle':
    case 'release':
      return withMissingExtra(operation, planClose(operation, known), known);
    case 'void':
      return withMissingExtra(operation, planVoid(operation, known), known);
    case 'refund':
      return withMissingExtra(operation, planRefund(operation, known), known);
    case 'credit':
      return planCredit(operation, head, known);
    default:
      return operation satisfies never;
  }
}

function planHold(operation: HoldOperation, { head, known, spent, at }: Books): Step {
  const { task, by, amount } = operation;
  const existing = known.get(keys.hold(task));
  if (existing?.kind === 'void' || known.has(keys.close(task))) {
    return { drafts: [], outcome: { state: 'voided' } };
  }
  if (existing !== undefined) return replay(operation, existing);
  // A hold of zero is accepted even if the account is in debt.
  const isTooMuch = amount > 0n && head.available - amount < -operation.overdraftLimit;
  if (amount > amountMax || isTooMuch) {
    return { drafts: [], outcome: { state: 'refused', available: head.available } };
  }
  const sums = scopesOf(attributionOfSpender(by)).map(({ of, id }) => [of, sumsOf(spent, id)] as const);
  const day = dayOfHold(
    at,
    sums.map(([, sum]) => sum),
  );
  const uses = new Map(sums.map(([of, sum]) => [of, useOn(sum, day)]));
  const cap = refusingCap(capStates(by.caps ?? [], uses), amount);
  if (cap !== undefined) return { drafts: [], outcome: { state: 'capped', cap } };
  return { drafts: [holdDraft(operation, day)] };
}

function sumsOf(spent: SpentBook, scope: string): Spent {
  const sums = spent.get(scope);
  if (sums === undefined) throw new LedgerIntegrityError(`the sums of ${scope} were not read`);
  return sums;
}

function spentAfter(draft: Draft, before: (scope: string) => Spent): Spent[] {
  return scopesOf(draft).map(({ id }) => addSpent(before(id), spentChange(draft), draft.day ?? ''));
}

function planClose(operation: SettleOperation | ReleaseOperation, known: KnownEntries): Step {
  const { account, task, held } = operation;
  const existing = known.get(keys.close(task));
  if (existing !== undefined) return replay(operation, existing);
  const hold = known.get(keys.hold(task)) ?? operation.hold;
  if (hold === undefined || hold.kind === 'void') return { drafts: [], outcome: { state: 'no_hold' } };
  if (hold.key !== keys.hold(task) || hold.account !== account || hold.amount !== held) {
    throw new LedgerIntegrityError(
      `${task}: ${operation.kind} of ${held} on account ${account}, but ${hold.amount} is held on ${hold.account}`,
    );
  }
  return {
    drafts: operation.kind === 'settle' ? settleDrafts(operation, hold) : [releaseDraft(operation, hold)],
  };
}

/** Uses the hold's key, so that a hold still in flight is rejected. If the hold exists, it is released instead. */
function planVoid(operation: VoidOperation, known: KnownEntries): Step {
  const { task } = operation;
  const existing = known.get(keys.close(task)) ?? known.get(keys.hold(task));
  if (existing === undefined) return { drafts: [voidDraft(operation)] };
  const done = replay(operation, existing);
  if (existing.kind !== 'hold' || operation.unlessHeld === true) return done;
  return { drafts: [releaseDraft(operation, existing)] };
}

/**
 * The server may have died between a settle and its `charge_extra`. The task's next operation adds the missing entry,
 * unless it is refused.
 */
function withMissingExtra({ task }: TaskOperation, step: Step, known: KnownEntries): Step {
  const isRefused = step.outcome !== undefined && step.outcome.state !== 'done';
  const close = known.get(keys.close(task));
  if (isRefused || close?.excess === undefined || known.has(keys.chargeExtra(task))) return step;
  return { ...step, drafts: [...step.drafts, extraDraft({ ...close, task }, close.excess)] };
}

function planRefund(operation: RefundOperation, known: KnownEntries): Step {
  const { account, task, amount } = operation;
  const close = known.get(keys.close(task));
  if (close?.kind !== 'settle' || close.account !== account) {
    return { drafts: [], outcome: { state: 'not_settled' } };
  }
  const existing = known.get(keys.refund(task));
  if (existing !== undefined) return replay(operation, existing);
  const charged = closedAt(close);
  if (amount > charged) return { drafts: [], outcome: { state: 'above_charge', charged } };
  return { drafts: [refundDraft(operation, close)] };
}

function planCredit(operation: CreditOperation, head: Head, known: KnownEntries): Step {
  const { account, amount, reference, note } = operation;
  const key = keys.credit(account, reference);
  const existing = known.get(key);
  if (existing !== undefined) return replay(operation, existing);
  const balance = head.available + head.held + amount;
  if (balance > amountMax || balance < -amountMax) {
    return { drafts: [], outcome: { state: 'refused', available: head.available } };
  }
  const draft: Draft = {
    account,
    key,
    kind: amount < 0n ? 'adjust' : 'credit',
    amount,
    available: amount,
    held: 0n,
    ...defined({ note }),
  };
  return { drafts: [draft] };
}

function replay(operation: Operation, existing: EntryDocument): Step {
  if (existing.account !== operation.account) {
    throw new LedgerIntegrityError(
      `${existing.key} belongs to account ${existing.account}, not ${operation.account}`,
    );
  }
  return { drafts: [], outcome: { state: 'done', entry: existing, replayed: true } };
}
