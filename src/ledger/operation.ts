import { defined } from '../base/defined.ts';
import { Buffer } from 'node:buffer';
import { amountMax, type Micros } from '../money/money.ts';
import type { Spender } from '../access/spender.ts';
import type { UpstreamCost } from '../task/cost.ts';
import type { LedgerEntry } from './entry.ts';

export type HoldFacts = Pick<
  LedgerEntry,
  'key' | 'kind' | 'account' | 'amount' | 'key_id' | 'model' | 'end_user' | 'day'
>;

export interface HoldRequest {
  readonly account: string;
  readonly task: string;
  readonly by: Spender;
  readonly amount: Micros;
  readonly basis: string;
  /** A hold may take `available` this far below zero. Must not be negative. */
  readonly overdraftLimit: Micros;
}

interface Costed {
  readonly upstream?: UpstreamCost;
}

export interface SettleRequest extends Costed {
  readonly account: string;
  readonly task: string;
  readonly held: Micros;
  readonly amount: Micros;
  readonly basis?: string;
  readonly note?: string;
  /** The entry that `hold` returned. Passing it saves a read. */
  readonly hold?: HoldFacts;
}

export interface ReleaseRequest extends Costed {
  readonly account: string;
  readonly task: string;
  readonly held: Micros;
  readonly note?: string;
  readonly hold?: HoldFacts;
}

export interface VoidRequest extends Costed {
  readonly account: string;
  readonly task: string;
  readonly note?: string;
}

export interface VoidCondition {
  readonly unlessHeld?: true;
}

/** `note` explains why nothing should be held. It is stored only if nothing is. */
export type BlockRequest = Pick<VoidRequest, 'account' | 'task'> & { readonly note: string };

export interface RefundRequest extends Costed {
  readonly account: string;
  readonly task: string;
  readonly amount: Micros;
  readonly note?: string;
}

export interface CreditRequest {
  readonly account: string;
  /** Must not be zero. A negative amount is a correction, which may take `available` below zero. */
  readonly amount: Micros;
  /** A second credit with the same reference is treated as a repetition of the first. */
  readonly reference: string;
  readonly note?: string;
}

export type HoldOperation = HoldRequest & { readonly kind: 'hold' };
export type SettleOperation = SettleRequest & { readonly kind: 'settle' };
export type ReleaseOperation = ReleaseRequest & { readonly kind: 'release' };
export type VoidOperation = VoidRequest & VoidCondition & { readonly kind: 'void' };
export type RefundOperation = RefundRequest & { readonly kind: 'refund' };
export type CreditOperation = CreditRequest & { readonly kind: 'credit' };
export type Operation =
  | HoldOperation
  | SettleOperation
  | ReleaseOperation
  | VoidOperation
  | RefundOperation
  | CreditOperation;

/** Slashes would make `_id` ambiguous, and colons would make `key` ambiguous. */
const namePattern = /^[A-Za-z0-9._-]{1,128}$/;
const referenceCharactersMax = 256;
const noteCharactersMax = 600;
const basisBytesMax = 64 * 1024;

/**
 * Like the functions below, throws a RangeError for a value that the ledger cannot store. An excessive hold does not
 * throw, because the ledger itself refuses it.
 */
export function holdOperation(request: HoldRequest): HoldOperation {
  const { amount } = request;
  if (amount < 0n) throw new RangeError('a hold must not be negative');
  return {
    kind: 'hold',
    account: checkAccount(request.account),
    task: checkTask(request.task),
    by: request.by,
    amount,
    basis: checkBasis(request.basis),
    overdraftLimit: checkAmount(request.overdraftLimit),
  };
}

export function settleOperation(request: SettleRequest): SettleOperation {
  return {
    kind: 'settle',
    account: checkAccount(request.account),
    task: checkTask(request.task),
    held: checkAmount(request.held),
    amount: checkAmount(request.amount),
    ...(request.basis === undefined ? {} : { basis: checkBasis(request.basis) }),
    ...defined({ hold: request.hold }),
    ...costed(request),
    ...cutNote(request.note),
  };
}

export function releaseOperation(request: ReleaseRequest): ReleaseOperation {
  return {
    kind: 'release',
    account: checkAccount(request.account),
    task: checkTask(request.task),
    held: checkAmount(request.held),
    ...defined({ hold: request.hold }),
    ...costed(request),
    ...cutNote(request.note),
  };
}

export function voidOperation(request: VoidRequest, unless: VoidCondition = {}): VoidOperation {
  return {
    kind: 'void',
    account: checkAccount(request.account),
    task: checkTask(request.task),
    ...unless,
    ...costed(request),
    ...cutNote(request.note),
  };
}

export function refundOperation(request: RefundRequest): RefundOperation {
  const { amount } = request;
  if (amount <= 0n) throw new RangeError('a refund must be positive');
  return {
    kind: 'refund',
    account: checkAccount(request.account),
    task: checkTask(request.task),
    amount,
    ...costed(request),
    ...cutNote(request.note),
  };
}

export function creditOperation(request: CreditRequest): CreditOperation {
  const { amount } = request;
  if (amount === 0n) throw new RangeError('a credit must not be zero');
  checkAmount(amount < 0n ? -amount : amount);
  return {
    kind: 'credit',
    account: checkAccount(request.account),
    amount,
    reference: checkReference(request.reference),
    ...cutNote(request.note),
  };
}

export function checkAccount(account: string): string {
  if (!namePattern.test(account))
    throw new RangeError('an account must consist of 1 to 128 of the characters A-Z a-z 0-9 . _ -');
  return account;
}

function checkTask(task: string): string {
  if (!namePattern.test(task))
    throw new RangeError('a task must consist of 1 to 128 of the characters A-Z a-z 0-9 . _ -');
  return task;
}

function checkAmount(amount: Micros): Micros {
  if (amount < 0n || amount > amountMax)
    throw new RangeError(`an amount must be from 0 to ${amountMax} micro-units`);
  return amount;
}

function checkReference(reference: string): string {
  const text = wellFormed(reference);
  if (text.length === 0 || text.length > referenceCharactersMax) {
    throw new RangeError(`a reference must have 1 to ${referenceCharactersMax} characters`);
  }
  return text;
}

function checkBasis(basis: string): string {
  const text = wellFormed(basis);
  if (Buffer.byteLength(text) > basisBytesMax)
    throw new RangeError(`a basis must have at most ${basisBytesMax} bytes`);
  return text;
}

function costed({ upstream }: Costed): Costed {
  if (upstream === undefined) return {};
  checkAmount(upstream.cost);
  return { upstream };
}

/** Truncates a long note instead of rejecting it, because a note must never prevent a task from being settled. */
function cutNote(note: string | undefined): { note?: string } {
  return note === undefined ? {} : { note: wellFormed(note.slice(0, noteCharactersMax)) };
}

/**
 * Replaces lone surrogates before the entry is hashed. MongoDB stores UTF-8 and would change them when it stores the
 * entry, which would break the hash.
 */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
