import type { LedgerMeter } from '../domain/meter.ts';
import type { Micros } from '../domain/money.ts';
import { createAppender } from './appender.ts';
import { findByKeys, findSuccessors } from './collection.ts';
import type { LedgerCollection } from './collection.ts';
import { chargeOf, keys, toEntry } from './entry.ts';
import type { LedgerEntry } from './entry.ts';
import { LedgerIntegrityError } from './ledger-errors.ts';
import { createHeads } from './heads.ts';
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
  /** `ledgerCollection(db)`; its indexes are made by `ensureLedgerIndexes(db)`. */
  readonly collection: LedgerCollection;
  /** Unix milliseconds, for the entries' `at`. */
  readonly now: () => number;
  /** Accounts whose head is remembered. */
  readonly headsMax?: number;
  /** What an account has left after entries of this process. */
  readonly onBalance?: (account: string, available: Micros) => void;
  readonly meter?: LedgerMeter;
}

export interface Ledger {
  /**
   * Sets money aside; refused when `available - amount` would fall below `-overdraftLimit`, and when no entry may hold
   * the amount.
   */
  hold(request: HoldRequest): Promise<HoldResult>;
  /**
   * Charges a task that succeeded. What exceeds the hold becomes a `charge_extra`, below zero if it must. `no_hold`:
   * nothing is held for it, or its hold was voided, and nothing is charged.
   */
  settle(request: SettleRequest): Promise<ReleaseResult>;
  /** Gives a task's hold back. `no_hold`: nothing was ever held for it, and nothing is written. */
  release(request: ReleaseRequest): Promise<ReleaseResult>;
  /**
   * Abandons a hold that may or may not have been taken: releases it, or takes its place, so that a try that is still
   * in flight is refused. Whatever it answers, nothing is held for the task from then on.
   */
  void(request: VoidRequest): Promise<VoidResult>;
  /**
   * Gives back what a task was charged, or a part of it, once. A replay returns the entry of the first call, whatever
   * amount that had.
   */
  refund(request: RefundRequest): Promise<RefundResult>;
  /**
   * A replay returns the entry of the first call, whatever amount that had. Refused when the account would have more
   * than `amountMax`, or owe more.
   */
  credit(request: CreditRequest): Promise<CreditResult>;
  /** One read: by `_id` where the head is known, otherwise by the index. */
  balance(account: string): Promise<Balance>;
  /** In order, oldest first. */
  entries(account: string, page: EntriesPage): Promise<LedgerEntry[]>;
  /** At most four: hold, settle or release, charge_extra, refund. By the unique index on `key`. */
  entriesOfTask(task: string): Promise<LedgerEntry[]>;
  /** Holds of all accounts that are neither settled nor released, by the names of their tasks. */
  openHoldsBetween(range: HoldRange): Promise<OpenHold[]>;
}

interface AppendResult {
  readonly entry: LedgerEntry;
  /** It existed before this call. */
  readonly replayed: boolean;
}

export type HoldResult =
  | (AppendResult & { readonly ok: true })
  | { readonly ok: false; readonly refused: 'insufficient_balance'; readonly available: Micros }
  | { readonly ok: false; readonly refused: 'voided' };

export type CreditResult =
  | (AppendResult & { readonly ok: true })
  | { readonly ok: false; readonly refused: 'balance_limit' };

export type RefundResult =
  | (AppendResult & { readonly ok: true })
  /** Nothing was charged to this account for the task. */
  | { readonly ok: false; readonly refused: 'not_settled' }
  /** `charged`: in sum. */
  | { readonly ok: false; readonly refused: 'above_charge'; readonly charged: Micros };

export interface CloseResult extends AppendResult {
  /** How the task is closed now; the first call decided it. */
  readonly closed: 'settled' | 'released';
  /** What the task costs in all, a charge beyond the hold included; 0 when released. */
  readonly charged: Micros;
  /** It was closed the other way before: a settle found a release, or the other way round. */
  readonly contradicts: boolean;
}

/** `voided`: nothing was held, and nothing can be. `settled`: the task was paid before, and stays so. */
interface VoidResult {
  readonly closed: 'voided' | 'released' | 'settled';
  /** What the task costs in all, a charge beyond the hold included. */
  readonly charged: Micros;
}

type ReleaseResult = CloseResult | { readonly closed: 'no_hold' };

export interface Balance {
  readonly available: Micros;
  readonly held: Micros;
  /** Of the last entry; 0 for an account without any. */
  readonly seq: bigint;
}

interface EntriesPage {
  /** The page begins after this `seq`. */
  readonly after?: bigint;
  /** 1 to 1,000. */
  readonly limit: number;
}

const headsMaxDefault = 10_000;
const pageEntriesMax = 1_000;

/**
 * The accounts' money. Every operation is one entry (a settle beyond its hold: two), appended by one insert, and may
 * be repeated without end: it happens once. An operation rejects with LedgerUnavailableError while MongoDB does not
 * answer, with LedgerIntegrityError when it contradicts the ledger, with RangeError when its input is out of bounds.
 */
export function createLedger(deps: LedgerDeps): Ledger {
  const { collection } = deps;
  const heads = createHeads(collection, deps.headsMax ?? headsMaxDefault);
  const appender = createAppender({ ...deps, heads });

  return {
    async hold(request) {
      const outcome = await appender.submit(holdOperation(request));
      if (outcome.state === 'refused') {
        return { ok: false, refused: 'insufficient_balance', available: outcome.available };
      }
      if (outcome.state === 'voided') return { ok: false, refused: 'voided' };
      return { ok: true, ...expectDone(outcome, 'hold', request.account) };
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
      const closed = entry.kind === 'void' ? 'voided' : entry.kind === 'settle' ? 'settled' : 'released';
      return { closed, charged: chargeOf(entry) };
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

    async entries(account, page) {
      const limit = Math.min(Math.max(page.limit, 1), pageEntriesMax);
      const range = { after: page.after ?? 0n, limit };
      return (await findSuccessors(collection, checkAccount(account), range)).map(toEntry);
    },

    entriesOfTask: (task) => findEntriesOfTask(collection, task),

    openHoldsBetween: (range) => findOpenHoldsBetween(collection, range),
  };
}

async function findEntriesOfTask(collection: LedgerCollection, task: string): Promise<LedgerEntry[]> {
  const wanted = [keys.hold(task), keys.close(task), keys.chargeExtra(task), keys.refund(task)];
  const found = await findByKeys(collection, wanted);
  return wanted
    .map((key) => found.get(key))
    .filter((entry) => entry !== undefined)
    .map(toEntry);
}

function expectDone(outcome: Outcome, what: string, account: string): AppendResult {
  switch (outcome.state) {
    case 'done':
      return { entry: toEntry(outcome.entry), replayed: outcome.replayed };
    case 'failed':
      throw outcome.error;
    case 'refused':
    case 'no_hold':
    case 'voided':
    case 'not_settled':
    case 'above_charge':
      throw new LedgerIntegrityError(`${what} on account ${account}: ${outcome.state}`);
    default:
      return outcome satisfies never;
  }
}

function closeResult({ entry, replayed }: AppendResult, wanted: CloseResult['closed']): CloseResult {
  const closed = entry.kind === 'settle' ? 'settled' : 'released';
  return { closed, entry, charged: chargeOf(entry), replayed, contradicts: closed !== wanted };
}
