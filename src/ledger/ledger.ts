import { closedAt } from '../money/ledger-basis.ts';
import { defined } from '../base/defined.ts';
import { createEndUserNames, type EndUserNames } from '../store/end-user-names.ts';
import type { LedgerMeter } from '../observability/meter.ts';
import type { Micros } from '../money/money.ts';
import { capStates, tightest, type CapScope, type CapState, type SpentUse } from '../money/caps.ts';
import type { Spender } from '../access/spender.ts';
import type { UpstreamCost } from '../task/cost.ts';
import { attributionOfSpender } from './drafts.ts';
import { dayOfHold, nothingSpent, scopesOf, useOn, usesAfter } from './spent.ts';
import { createAppender, type Appender } from './appender.ts';
import type { TurnLines } from './turn-lines.ts';
import { findByKeys, type LedgerCollection } from './collection.ts';
import { createEntryHash, keys, toEntry, type LedgerEntry } from './entry.ts';
import { LedgerIntegrityError } from './ledger-errors.ts';
import { createHeads, type Heads } from './heads.ts';
import { createHistory, type History, type HistoryDeps } from './history.ts';
import { findOpenHoldsBetween, type HoldRange, type OpenHold } from './open-holds.ts';
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
  BlockRequest,
  CreditRequest,
  HoldRequest,
  RefundRequest,
  ReleaseRequest,
  SettleRequest,
  VoidCondition,
  VoidRequest,
} from './operation.ts';
import type { Outcome } from './plan.ts';

export interface LedgerDeps {
  readonly collection: LedgerCollection;
  /** From `deriveKey('ledger')`. Used for entry hashes and for the pseudonyms of end users. */
  readonly key: Uint8Array;
  readonly now: () => number;
  readonly headsMax?: number;
  /** Called after each batch that this process appends. It receives the batch's lowest and last balance. */
  readonly onBalance?: (account: string, after: Pick<LedgerEntry, 'available' | 'seq'>) => void;
  readonly meter?: LedgerMeter;
  /** If this returns false, `now` cannot be trusted, and operations reject with LedgerClockError. */
  readonly isTimeRight?: () => boolean;
  /** From `createTurnLines(db, now)`. Required if other processes also append. */
  readonly lines?: TurnLines;
}

export interface Ledger extends History {
  /**
   * Refused if `available - amount` would fall below `-overdraftLimit`, or if the amount exceeds a cap or what an entry
   * can store.
   */
  hold(request: HoldRequest): Promise<HoldResult>;
  /**
   * If the charge exceeds the hold, the rest becomes a `charge_extra`, which may make the balance negative. `no_hold`
   * means that nothing was charged, because the task had no hold or a voided one.
   */
  settle(request: SettleRequest): Promise<ReleaseResult>;
  release(request: ReleaseRequest): Promise<ReleaseResult>;
  /**
   * Call this if it is unknown whether a hold was written. It releases the hold or, if there is none, blocks its key so
   * that a hold still in flight is rejected. Nothing is held for the task afterwards.
   */
  void(request: VoidRequest): Promise<VoidResult>;
  /**
   * Proves whether the task has a hold. Just after an election, reads may miss one, so only a write proves that there is
   * none. `voided` means that nothing is or was held, and that a hold still in flight is rejected. An open hold is kept.
   */
  blockHold(request: BlockRequest): Promise<VoidResult['closed'] | 'held'>;
  /**
   * A task can be refunded once, in part or in full. A repeated call returns the first call's entry, even if the
   * amounts differ.
   */
  refund(request: RefundRequest): Promise<RefundResult>;
  /**
   * A repeated call with the same reference returns the first call's entry, even if the amounts differ. Refused if the
   * account's balance or debt would exceed `amountMax`.
   */
  credit(request: CreditRequest): Promise<CreditResult>;
  balance(account: string): Promise<Balance>;
  uses(account: string, by: Partial<Spender>): Promise<ReadonlyMap<CapScope, SpentUse>>;
  entriesOfTask(task: string): Promise<LedgerEntry[]>;
  /** Returns open holds of any account, including those of tasks whose charge is incomplete. */
  openHoldsBetween(range: HoldRange): Promise<OpenHold[]>;
}

interface AppendResult {
  readonly entry: LedgerEntry;
  readonly replayed: boolean;
}

export type HoldResult =
  /** The cap with the least room left after this hold. */
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
  /** True if a settle found the task already released, or a release found it already settled. */
  readonly contradicts: boolean;
}

/**
 * - `voided`: nothing was held, and no hold can follow.
 * - `settled`: the task had already been charged, and stays charged.
 */
interface VoidResult {
  readonly closed: 'voided' | 'released' | 'settled';
  readonly charged: Micros;
  readonly upstream?: UpstreamCost;
}

type ReleaseResult = CloseResult | { readonly closed: 'no_hold' };

export interface Balance {
  readonly available: Micros;
  readonly held: Micros;
  readonly seq: bigint;
}

function closedBy(kind: LedgerEntry['kind']): VoidResult['closed'] {
  return kind === 'void' ? 'voided' : kind === 'settle' ? 'settled' : 'released';
}

const headsMaxDefault = 10_000;

/**
 * Each operation is idempotent and inserts one entry, or two if a settle exceeds its hold. Operations reject with
 * LedgerUnavailableError while MongoDB is unavailable, with LedgerIntegrityError if they contradict the ledger, and
 * with RangeError if their input is out of bounds.
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
    ...createVoids(appender, expectDone),

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

function createVoids(
  appender: Appender,
  expectDone: ReturnType<typeof createExpectDone>,
): Pick<Ledger, 'void' | 'blockHold'> {
  async function voided(request: VoidRequest, unless: VoidCondition = {}): Promise<LedgerEntry> {
    const outcome = await appender.submit(voidOperation(request, unless));
    return expectDone(outcome, `void of ${request.task}`, request.account).entry;
  }

  return {
    async void(request) {
      const entry = await voided(request);
      const { kind, upstream } = entry;
      return { closed: closedBy(kind), charged: closedAt(entry), ...defined({ upstream }) };
    },

    async blockHold(request) {
      const { kind } = await voided(request, { unlessHeld: true });
      return kind === 'hold' ? 'held' : closedBy(kind);
    },
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
