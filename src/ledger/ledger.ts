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
  /** `ledgerCollection(db)`; its indexes are made by `ensureLedgerIndexes(db)`. */
  readonly collection: LedgerCollection;
  /** The key from `deriveKey('ledger')`, for the hashes of entries and the pseudonyms of end users. */
  readonly key: Uint8Array;
  /** Unix milliseconds, for the entries' `at`. */
  readonly now: () => number;
  /** Accounts whose head is remembered. */
  readonly headsMax?: number;
  /** Called after this process's entries, with the lowest and the last balance of each batch. */
  readonly onBalance?: (account: string, after: Pick<LedgerEntry, 'available' | 'seq'>) => void;
  readonly meter?: LedgerMeter;
  /** False: `now` is not to be trusted, and operations reject with LedgerClockError. */
  readonly isTimeRight?: () => boolean;
  /** Where other processes append, too: `createTurnLines(db, now)`. */
  readonly lines?: TurnLines;
}

export interface Ledger extends History {
  /**
   * Sets money aside; refused when `available - amount` would fall below `-overdraftLimit`, when it does not fit into what
   * a cap has left, and when no entry may hold the amount.
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
  /** What a key, the key with a model, or an end user has used: those of the three that are named. One read, or none. */
  uses(account: string, by: Partial<Spender>): Promise<ReadonlyMap<CapScope, SpentUse>>;
  /** At most four: hold, settle or release, charge_extra, refund. By the unique index on `key`. */
  entriesOfTask(task: string): Promise<LedgerEntry[]>;
  /** Of all accounts, what is held and neither settled nor released, or settled but in part, by the names of tasks. */
  openHoldsBetween(range: HoldRange): Promise<OpenHold[]>;
}

interface AppendResult {
  readonly entry: LedgerEntry;
  /** It existed before this call. */
  readonly replayed: boolean;
}

export type HoldResult =
  /** `cap`: of the request's caps the one that has least left after it. */
  | (AppendResult & { readonly ok: true; readonly cap?: CapState })
  | { readonly ok: false; readonly refused: 'capped'; readonly cap: CapState }
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
  /** Of the entry that closes the hold. */
  readonly upstream?: UpstreamCost;
}

type ReleaseResult = CloseResult | { readonly closed: 'no_hold' };

export interface Balance {
  readonly available: Micros;
  readonly held: Micros;
  /** Of the last entry; 0 for an account without any. */
  readonly seq: bigint;
}

const headsMaxDefault = 10_000;

/**
 * The accounts' money. Every operation is one entry (a settle beyond its hold: two), appended by one insert, and may
 * be repeated without end: it happens once. An operation rejects with LedgerUnavailableError while MongoDB does not
 * answer, with LedgerIntegrityError when it contradicts the ledger, with RangeError when its input is out of bounds.
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
      const closed = entry.kind === 'void' ? 'voided' : entry.kind === 'settle' ? 'settled' : 'released';
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
