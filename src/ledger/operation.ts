import { defined } from '../base/defined.ts';
import { Buffer } from 'node:buffer';
import { amountMax } from '../money/money.ts';
import type { Micros } from '../money/money.ts';
import type { Spender } from '../access/spender.ts';
import type { UpstreamCost } from '../task/cost.ts';
import type { LedgerEntry } from './entry.ts';

/** What a close takes from its hold. */
export type HoldFacts = Pick<
  LedgerEntry,
  'key' | 'kind' | 'account' | 'amount' | 'key_id' | 'model' | 'end_user' | 'day'
>;

export interface HoldRequest {
  readonly account: string;
  /** Task id, or the like of a synchronous image. */
  readonly task: string;
  readonly by: Spender;
  readonly amount: Micros;
  /** JSON of the PriceBasis. */
  readonly basis: string;
  /** How far below zero holds may take `available`; not negative. */
  readonly overdraftLimit: Micros;
}

/** What the entry says of the operator's side; absent: nothing is known of it. */
interface Costed {
  readonly upstream?: UpstreamCost;
}

export interface SettleRequest extends Costed {
  readonly account: string;
  readonly task: string;
  /** The hold's amount; anything else is an error. */
  readonly held: Micros;
  /** The final charge, which may exceed the hold. */
  readonly amount: Micros;
  /** JSON of how the charge came about. */
  readonly basis?: string;
  readonly note?: string;
  /** What `hold` gave: spares reading it again. */
  readonly hold?: HoldFacts;
}

export interface ReleaseRequest extends Costed {
  readonly account: string;
  readonly task: string;
  /** The hold's amount; anything else is an error. */
  readonly held: Micros;
  readonly note?: string;
  /** What `hold` gave: spares reading it again. */
  readonly hold?: HoldFacts;
}

export interface VoidRequest extends Costed {
  readonly account: string;
  readonly task: string;
  readonly note?: string;
}

export interface RefundRequest extends Costed {
  readonly account: string;
  /** A task that was settled. */
  readonly task: string;
  /** Positive. */
  readonly amount: Micros;
  readonly note?: string;
}

export interface CreditRequest {
  readonly account: string;
  /** Not zero; a negative amount is a correction and may take `available` below zero. */
  readonly amount: Micros;
  /** Names the payment: the same reference is the same credit. */
  readonly reference: string;
  readonly note?: string;
}

export type HoldOperation = HoldRequest & { readonly kind: 'hold' };
export type SettleOperation = SettleRequest & { readonly kind: 'settle' };
export type ReleaseOperation = ReleaseRequest & { readonly kind: 'release' };
export type VoidOperation = VoidRequest & { readonly kind: 'void' };
export type RefundOperation = RefundRequest & { readonly kind: 'refund' };
export type CreditOperation = CreditRequest & { readonly kind: 'credit' };
/** What the ledger is asked to do, checked and bounded. */
export type Operation =
  | HoldOperation
  | SettleOperation
  | ReleaseOperation
  | VoidOperation
  | RefundOperation
  | CreditOperation;

/** A slash would blur `_id`, a colon would blur `key`. */
const namePattern = /^[A-Za-z0-9._-]{1,128}$/;
const referenceCharactersMax = 256;
/** A reason of 500, and who gave it. */
const noteCharactersMax = 600;
const basisBytesMax = 64 * 1024;

/** Throws RangeError on what no ledger may hold; so do the five below. An amount that is too large is refused instead. */
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

export function voidOperation(request: VoidRequest): VoidOperation {
  return {
    kind: 'void',
    account: checkAccount(request.account),
    task: checkTask(request.task),
    ...costed(request),
    ...cutNote(request.note),
  };
}

/** However large the amount is: the charge, which the ledger knows, bounds it. */
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
  if (!namePattern.test(account)) throw new RangeError('an account is 1-128 of A-Z a-z 0-9 . _ -');
  return account;
}

function checkTask(task: string): string {
  if (!namePattern.test(task)) throw new RangeError('a task is 1-128 of A-Z a-z 0-9 . _ -');
  return task;
}

function checkAmount(amount: Micros): Micros {
  if (amount < 0n || amount > amountMax) throw new RangeError(`an amount is 0 to ${amountMax} micro-units`);
  return amount;
}

function checkReference(reference: string): string {
  const text = wellFormed(reference);
  if (text.length === 0 || text.length > referenceCharactersMax) {
    throw new RangeError(`a reference has 1 to ${referenceCharactersMax} characters`);
  }
  return text;
}

function checkBasis(basis: string): string {
  const text = wellFormed(basis);
  if (Buffer.byteLength(text) > basisBytesMax)
    throw new RangeError(`a basis has at most ${basisBytesMax} bytes`);
  return text;
}

function costed({ upstream }: Costed): Costed {
  if (upstream === undefined) return {};
  checkAmount(upstream.cost);
  return { upstream };
}

/** For humans; truncated, because a long note must not keep a task from being settled. */
function cutNote(note: string | undefined): { note?: string } {
  return note === undefined ? {} : { note: wellFormed(note.slice(0, noteCharactersMax)) };
}

/** MongoDB stores UTF-8: half a surrogate pair would be read back as another character and break the entry's hash. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
