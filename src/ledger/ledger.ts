import { closedAt } from '../money/ledger-basis.ts';
import { defined } from '../base/defined.ts';
import { createEndUserNames } from '../store/end-user-names.ts';
import type { EndUserNames } from '../store/end-user-names.ts';
import type { LedgerMeter } from '../observability/meter.ts';
import type { Micros } from '../money/money.ts';
import { capStates, tightest } from '../money/caps.ts';
import type { CapScope, CapState, SpentUse } from '../money/caps.ts';
import type { Spender } from '../access/spender.ts';
import type { UpstreamCost } from '../task/cost.ts';
import { attributionOfSpender } from './drafts.ts';
import { dayOfHold, nothingSpent, scopesOf, useOn, usesAfter } from './spent.ts';
import { createAppender } from './appender.ts';
import type { TurnLines } from './turn-lines.ts';
import { findByKeys } from './collection.ts';
import type { LedgerCollection } from './collection.ts';
import { createEntryHash, keys, toEntry } from './entry.ts';
import type { LedgerEntry } from './entry.ts';
import { LedgerIntegrityError } from './ledger-errors.ts';
import { createHeads } from './heads.ts';
import type { Heads } from './heads.ts';
import { createHistory } from './history.ts';
import type { History, HistoryDeps } from './history.ts';
import { findOpenHoldsBetween } from './open-holds.ts';
import type { HoldRange, OpenHold } from './open-holds.ts';
import {
  checkAccount,
  creditOperation,
  holdOperation,
  refundOperation,
  releaseOperation,
  settleOperation,
  voidOperation,
} from './operation.ts';
import type {
  CreditRequest,
  HoldRequest,
  RefundRequest,
  ReleaseRequest,
  SettleRequest,
  VoidRequest,
} from './operation.ts';
import type { Outcome } from './plan.ts';

export interface LedgerDeps {
  readonly collection: LedgerCollection;
  /** From `deriveKey('ledger')`. Used for entry hashes and for end users' pseudonyms. */
  readonly key: Uint8Array;
  readonly now: () => number;
  readonly headsMax?: number;
  /** Called after each batch that this process appends, with the batch's lowest and last balances. */
  readonly onBalance?: (account: string, after: Pick<LedgerEntry, 'available' | 'seq'>) => void;
  readonly meter?: LedgerMeter;
  /** Returns false if `now` cannot be trusted, in which case operations reject with LedgerClockError. */
  readonly isTimeRight?: () => boolean;
  /** From `createTurnLines(db, now)`. Required if other processes also append. */
  readonly lines?: TurnLines;
}

export interface Ledger extends History {
  /**
   * Reserves money. Rejected if `available - amount` would fall below `-overdraftLimit`, or if the amount exceeds what
   * a cap has left or what an entry can store.
   */
  hold(request: HoldRequest): Promise<HoldResult>;
  /**
   * Charges a task that succeeded. Any excess over the hold becomes a `charge_extra`, which may make the balance
   * negative. `no_hold` means that the task has no hold, or a voided one, so nothing is charged.
   */
  settle(request: SettleRequest): Promise<ReleaseResult>;
  release(request: ReleaseRequest): Promise<ReleaseResult>;
  /**
   * Cancels a hold that may or may not have been written: releases it, or inserts an entry under its key, so that a
   * hold still in flight is rejected. Afterwards, nothing is held for the task unless the result is `held`.
   */
  void(request: VoidRequest): Promise<VoidResult>;
  /**
   * Refunds all or part of a task's charge, once. A repeated call returns the first call's entry, even if the amounts
   * differ.
   */
  refund(request: RefundRequest): Promise<RefundResult>;
  /**
   * Changes an account's balance. A repeated call with the same reference returns the first call's entry, even if the
   * amounts differ. Rejected if the account's balance or debt would exceed `amountMax`.
   */
  credit(request: CreditRequest): Promise<CreditResult>;
  /** Takes a single read: by `_id` if the head is cached, otherwise through the index. */
  balance(account: string): Promise<Balance>;
  uses(account: string, by: Partial<Spender>): Promise<ReadonlyMap<CapScope, SpentUse>>;
  entriesOfTask(task: string): Promise<LedgerEntry[]>;
  /** Returns holds of any account that are open or whose charge is incomplete. */
  openHoldsBetween(range: HoldRange): Promise<OpenHold[]>;
}

interface AppendResult {
  readonly entry: LedgerEntry;
  readonly replayed: boolean;
}

export type HoldResult =
  /** `cap` is the cap with the least left after this hold. */
  | (AppendResult & { readonly ok: true; readonly cap?: CapState })
  | { readonly ok: false; readonly refused: 'capped'; readonly cap: CapState }
  | { readonly ok: false; readonly refused: 'insufficient_balance'; readonly available: Micros }
  | { readonly ok: false; readonly refused: 'voided' };

export type CreditResult =
  | (AppendResult & { readonly ok: true })
  | { readonly ok: false; readonly refused: 'balance_limit' };

export type RefundResult =
  | (AppendResult & { readonly ok: true })
  | { readonly ok: false; readonly refused: 'not_settled' }
  | { readonly ok: false; readonly refused: 'above_charge'; readonly charged: Micros };

export interface CloseResult extends AppendResult {
  readonly closed: 'settled' | 'released';
  readonly charged: Micros;
  /**
   * Whether the task had already been closed in the opposite way: a settle found a release, or a release found a
   * settle.
   */
  readonly contradicts: boolean;
}

/**
 * `voided`: nothing was held, and no hold can follow. `settled`: the task had already been charged, and stays
 * charged. `held`: the task has a hold, which `unlessHeld` left unchanged.
 */
interface VoidResult {
  readonly closed: 'voided' | 'released' | 'settled' | 'held';
  readonly charged: Micros;
  readonly upstream?: UpstreamCost;
}

type ReleaseResult = CloseResult | { readonly closed: 'no_hold' };

export interface Balance {
  readonly available: Micros;
  readonly held: Micros;
  readonly seq: bigint;
}

const closedBy: { readonly [Kind in LedgerEntry['kind']]?: VoidResult['closed'] } = {
  void: 'voided',
  settle: 'settled',
  hold: 'held',
};

const headsMaxDefault = 10_000;

/**
 * Creates the ledger of all accounts. Each operation inserts a single entry, or two if a settle exceeds its hold.
 * Operations are idempotent. They reject with LedgerUnavailableError while MongoDB is unavailable, with
 * LedgerIntegrityError if they contradict the ledger, and with RangeError if their input is out of bounds.
 */
export function createLedger(deps: LedgerDeps): Ledger {
  const { collection } = deps;
  const heads = createHeads(collection, deps.headsMax ?? headsMaxDefault);
  const endUsers = createEndUserNames(deps.key);
  const hidden = hideEndUser(endUsers);
  const expectDone = createExpectDone(endUsers);
  const appender = createAppender({ ...deps, heads, hash: createEntryHash(deps.key) });

  return {
    ...createHistory({ collection, heads, endUsers }),

    async hold(request) {
      const outcome = await appender.submit(holdOperation({ ...request, by: hidden(request.by) }));
      if (outcome.state === 'refused') {
        return { ok: false, refused: 'insufficient_balance', available: outcome.available };
      }
      if (outcome.state === 'capped') return { ok: false, refused: 'capped', cap: outcome.cap };
      if (outcome.state === 'voided') return { ok: false, refused: 'voided' };
      const done = expectDone(outcome, 'hold', request.account);
      const cap = tightest(capStates(request.by.caps ?? [], usesAfter(done.entry)));
      return { ok: true, ...done, ...defined({ cap }) };
    },

    async settle(request) {
      const outcome = await appender.submit(settleOperation(request));
      if (outcome.state === 'no_hold' || outcome.state === 'voided') return { closed: 'no_hold' };
      return closeResult(expectDone(outcome, `settle of ${request.task}`, request.account), 'settled');
    },

    async release(request) {
      const outcome = await appender.submit(releaseOperation(request));
      if (outcome.state === 'no_hold') return { closed: 'no_hold' };
      return closeResult(expectDone(outcome, `release of ${request.task}`, request.account), 'released');
    },

    async void(request) {
      const outcome = await appender.submit(voidOperation(request));
      const { entry } = expectDone(outcome, `void of ${request.task}`, request.account);
      const closed = closedBy[entry.kind] ?? 'released';
      return { closed, charged: closedAt(entry), ...defined({ upstream: entry.upstream }) };
    },

    async refund(request) {
      const outcome = await appender.submit(refundOperation(request));
      if (outcome.state === 'not_settled') return { ok: false, refused: 'not_settled' };
      if (outcome.state === 'above_charge') {
        return { ok: false, refused: 'above_charge', charged: outcome.charged };
      }
      return { ok: true, ...expectDone(outcome, `refund of ${request.task}`, request.account) };
    },

    async credit(request) {
      const outcome = await appender.submit(creditOperation(request));
      if (outcome.state === 'refused') return { ok: false, refused: 'balance_limit' };
      return { ok: true, ...expectDone(outcome, 'credit', request.account) };
    },

    async balance(account) {
      const { available, held, seq } = await heads.refresh(checkAccount(account));
      return { available, held, seq };
    },

    uses: (account, by) =>
      readUses(heads, { account: checkAccount(account), by: hidden(by), at: deps.now() }),

    entriesOfTask: (task) => findEntriesOfTask({ collection, endUsers }, task),

    openHoldsBetween: (range) => findOpenHoldsBetween(collection, range),
  };
}

function hideEndUser({ hide }: EndUserNames) {
  return <By extends Partial<Spender>>(by: By): By =>
    by.endUser === undefined ? by : { ...by, endUser: hide(by.endUser) };
}

async function findEntriesOfTask(
  { collection, endUsers }: Omit<HistoryDeps, 'heads'>,
  task: string,
): Promise<LedgerEntry[]> {
  const wanted = [keys.hold(task), keys.close(task), keys.chargeExtra(task), keys.refund(task)];
  const found = await findByKeys(collection, wanted);
  const entries = wanted.map((key) => found.get(key)).filter((entry) => entry !== undefined);
  return entries.map((entry) => toEntry(entry, endUsers));
}

function createExpectDone(endUsers: EndUserNames) {
  return (outcome: Outcome, what: string, account: string): AppendResult => {
    switch (outcome.state) {
      case 'done':
        return { entry: toEntry(outcome.entry, endUsers), replayed: outcome.replayed };
      case 'failed':
        throw outcome.error;
      case 'refused':
      case 'capped':
      case 'no_hold':
      case 'voided':
      case 'not_settled':
      case 'above_charge':
        throw new LedgerIntegrityError(`${what} on account ${account}: ${outcome.state}`);
      default:
        return outcome satisfies never;
    }
  };
}

async function readUses(
  heads: Heads,
  { account, by, at }: { readonly account: string; readonly by: Partial<Spender>; readonly at: number },
): Promise<ReadonlyMap<CapScope, SpentUse>> {
  const scopes = scopesOf(attributionOfSpender(by));
  const head = await heads.refresh(account);
  const spent = await heads.spent(account, head, new Set(scopes.map(({ id }) => id)));
  const sums = scopes.map(({ of, id }) => [of, spent.get(id) ?? nothingSpent(id)] as const);
  return new Map(sums.map(([of, sum]) => [of, useOn(sum, dayOfHold(at, [sum]))]));
}

function closeResult({ entry, replayed }: AppendResult, wanted: CloseResult['closed']): CloseResult {
  const closed = entry.kind === 'settle' ? 'settled' : 'released';
  return { closed, entry, charged: closedAt(entry), replayed, contradicts: closed !== wanted };
}
