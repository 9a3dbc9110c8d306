import { defined } from '../domain/defined.ts';
import { amountMax } from '../domain/money.ts';
import type { Micros } from '../domain/money.ts';
import { chainEntry, chargeOf, keys } from './entry.ts';
import type { Draft, Head, EntryDocument } from './entry.ts';
import { LedgerIntegrityError } from './ledger-errors.ts';
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
  | { readonly state: 'no_hold' }
  /** The hold was abandoned, before it was taken or after: there is none, and never will be. */
  | { readonly state: 'voided' }
  /** Nothing was charged to the account for the task. */
  | { readonly state: 'not_settled' }
  /** A refund of more than was charged. */
  | { readonly state: 'above_charge'; readonly charged: Micros }
  | { readonly state: 'failed'; readonly error: unknown };

/** Entries found by key, and those that this plan adds. */
export type KnownEntries = ReadonlyMap<string, EntryDocument>;

interface PlannedOperation {
  readonly outcome: Outcome;
  /** The outcome holds once this many of the plan's entries are written. */
  readonly entriesNeeded: number;
}

export interface Plan {
  readonly entries: readonly EntryDocument[];
  /** One for each operation, in order. */
  readonly operations: readonly PlannedOperation[];
}

/**
 * What must be known before an operation is planned for the first time; the unique index refuses what is done already.
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

/** What a repeat must look at: the operation may have been done already. */
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

/** Pure: the entries that the operations append after `head`, one operation seeing the effects of those before it. */
export function planBatch(
  operations: readonly Operation[],
  start: { readonly head: Head; readonly known: KnownEntries; readonly at: number },
): Plan {
  const known = new Map(start.known);
  const entries: EntryDocument[] = [];
  let head = start.head;
  const planned = operations.map((operation) => {
    try {
      const step = planOperation(operation, head, known);
      const added: EntryDocument[] = [];
      for (const draft of step.drafts) {
        added.push(chainEntry(added.at(-1) ?? head, draft, start.at));
      }
      for (const entry of added) known.set(entry.key, entry);
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
  if (entry === undefined) throw new LedgerIntegrityError('an operation without outcome must add an entry');
  return { state: 'done', entry, replayed: false };
}

interface Step {
  readonly drafts: readonly Draft[];
  /** Absent: the operation is done by its first draft. */
  readonly outcome?: Outcome;
}

function planOperation(operation: Operation, head: Head, known: KnownEntries): Step {
  switch (operation.kind) {
    case 'hold':
      return planHold(operation, head, known);
    case 'settle':
    case 'release':
      return planClose(operation, known);
    case 'void':
      return planVoid(operation, known);
    case 'refund':
      return planRefund(operation, known);
    case 'credit':
      return planCredit(operation, head, known);
    default:
      return operation satisfies never;
  }
}

function planHold(operation: HoldOperation, head: Head, known: KnownEntries): Step {
  const { account, task, amount, basis } = operation;
  const existing = known.get(keys.hold(task));
  if (existing?.kind === 'void' || known.has(keys.close(task))) {
    return { drafts: [], outcome: { state: 'voided' } };
  }
  if (existing !== undefined) return replay(operation, existing);
  if (amount > amountMax || head.available - amount < -operation.overdraftLimit) {
    return { drafts: [], outcome: { state: 'refused', available: head.available } };
  }
  return {
    drafts: [
      { account, key: keys.hold(task), kind: 'hold', task, amount, available: -amount, held: amount, basis },
    ],
  };
}

function planClose(operation: SettleOperation | ReleaseOperation, known: KnownEntries): Step {
  const { account, task, held } = operation;
  const existing = known.get(keys.close(task));
  if (existing !== undefined) {
    return { ...replay(operation, existing), drafts: missingExtra(existing, known) };
  }
  const hold = known.get(keys.hold(task)) ?? operation.hold;
  if (hold === undefined || hold.kind === 'void') return { drafts: [], outcome: { state: 'no_hold' } };
  if (hold.key !== keys.hold(task) || hold.account !== account || hold.amount !== held) {
    throw new LedgerIntegrityError(
      `${task}: ${operation.kind} of ${held} on account ${account}, but ${hold.amount} is held on ${hold.account}`,
    );
  }
  return operation.kind === 'settle' ? planSettle(operation) : planRelease(operation);
}

function planSettle(operation: SettleOperation): Step {
  const { account, task, held, amount, basis, note } = operation;
  const fromHold = amount < held ? amount : held;
  const excess = amount - fromHold;
  const settle: Draft = {
    account,
    key: keys.close(task),
    kind: 'settle',
    task,
    amount: fromHold,
    available: held - fromHold,
    held: -held,
    ...(excess === 0n ? {} : { excess }),
    ...defined({ basis }),
    ...defined({ note }),
  };
  return { drafts: excess === 0n ? [settle] : [settle, extraDraft(account, task, excess)] };
}

/** Releases the hold if there is one; otherwise takes its place, so that a hold that is still in flight is refused. */
function planVoid(operation: VoidOperation, known: KnownEntries): Step {
  const { account, task } = operation;
  const existing = known.get(keys.close(task)) ?? known.get(keys.hold(task));
  if (existing === undefined) {
    const { note } = operation;
    const nothing = { amount: 0n, available: 0n, held: 0n };
    return {
      drafts: [{ account, key: keys.hold(task), kind: 'void', task, ...nothing, ...defined({ note }) }],
    };
  }
  const done = replay(operation, existing);
  return existing.kind === 'hold' ? planRelease({ ...operation, held: existing.amount }) : done;
}

function planRelease({ account, task, held, note }: Omit<ReleaseOperation, 'kind'>): Step {
  const release: Draft = {
    account,
    key: keys.close(task),
    kind: 'release',
    task,
    amount: held,
    available: held,
    held: -held,
    ...defined({ note }),
  };
  return { drafts: [release] };
}

/** A settle was written and the server died before its second entry: whoever comes next completes it. */
function missingExtra(close: EntryDocument, known: KnownEntries): Draft[] {
  const { account, task, excess } = close;
  if (task === undefined || excess === undefined || known.has(keys.chargeExtra(task))) return [];
  return [extraDraft(account, task, excess)];
}

function extraDraft(account: string, task: string, amount: Micros): Draft {
  return {
    account,
    key: keys.chargeExtra(task),
    kind: 'charge_extra',
    task,
    amount,
    available: -amount,
    held: 0n,
  };
}

/** Of the charge in sum, whether all of it has been written or not. */
function planRefund(operation: RefundOperation, known: KnownEntries): Step {
  const { account, task, amount, note } = operation;
  const close = known.get(keys.close(task));
  if (close?.kind !== 'settle' || close.account !== account) {
    return { drafts: [], outcome: { state: 'not_settled' } };
  }
  const existing = known.get(keys.refund(task));
  if (existing !== undefined) return replay(operation, existing);
  const charged = chargeOf(close);
  if (amount > charged) return { drafts: [], outcome: { state: 'above_charge', charged } };
  const refund: Draft = {
    account,
    key: keys.refund(task),
    kind: 'refund',
    task,
    amount,
    available: amount,
    held: 0n,
    ...defined({ note }),
  };
  return { drafts: [refund, ...missingExtra(close, known)] };
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
