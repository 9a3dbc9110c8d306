import type { Collection, Db } from 'mongodb';
import { defined } from '../base/defined.ts';
import type { Micros } from '../money/money.ts';
import type { Sealed } from '../base/sealed.ts';
import { durable, ensureIndexes, openCollection } from './mongo.ts';
import { toSealed, toSealedDocument } from './sealed-document.ts';
import type { SealedDocument } from './sealed-document.ts';

/** The events that an account has asked for. Times are in Unix milliseconds. */
export interface AccountAlert {
  readonly account: string;
  /** An event is posted each time the balance falls below it. Absent if there are no such events. */
  readonly threshold?: Micros;
  /** An event is posted for each percentage of a cap that is reached. Absent if there are no such events. */
  readonly caps?: JudgedCaps;
  /** Where events are posted; it may hold secrets. */
  readonly address: Sealed;
  readonly isBelow: boolean;
  /** The ledger entry that decided it last: what an older one says is of no interest any more. */
  readonly seq: bigint;
  /** Events that were not delivered yet. */
  readonly pending: readonly BalanceEvent[];
}

export interface JudgedCaps {
  /** All ledger entries up to this one were compared with the caps. */
  readonly upTo: bigint;
  /** Counts how often the caps were changed. */
  readonly revision: number;
  /** The revision that was last compared with what is used. */
  readonly judged: number;
}

export interface BalanceEvent {
  readonly id: string;
  readonly available: Micros;
  readonly at: number;
  /** Requests that were begun. */
  readonly tries: number;
  readonly dueAt: number;
}

type SeenEvent = Pick<BalanceEvent, 'id' | 'tries'>;

/** What an entry has left, compared with the limit. */
export interface Crossing {
  readonly isBelow: boolean;
  readonly seq: bigint;
  /** Of a fall. */
  readonly event?: BalanceEvent;
}

interface AlertDocument extends Omit<AccountAlert, 'account' | 'address'> {
  readonly _id: string;
  /** The address. */
  readonly sealed: SealedDocument;
  /** Each change of the events guards against the one before. */
  readonly rev: number;
}

/** Of a receiver that is away while the balance falls again and again, the newest are kept. */
const pendingMax = 20;

export interface BalanceLimit extends AccountAlert {
  readonly threshold: Micros;
}

type NewAlert = Pick<AccountAlert, 'account' | 'threshold' | 'caps' | 'address'>;

export type AccountAlertStore = ReturnType<typeof createAccountAlertStore>;

export function createAccountAlertStore(db: Db) {
  const alerts = openCollection<AlertDocument>(db, 'account_alerts', durable);
  return {
    ensureIndexes: () => ensureIndexes(alerts, [{ name: 'due', key: { 'pending.dueAt': 1 } }]),

    /** Replaces the account's alert. A limit that is already reached is posted, too. */
    async set({ account, threshold, caps, address }: NewAlert): Promise<void> {
      const sealed = toSealedDocument(address);
      const limits = defined({ threshold, caps });
      const alert = { ...limits, sealed, isBelow: false, seq: -1n, pending: [], rev: 0 };
      await alerts.replaceOne({ _id: account }, alert, { upsert: true });
    },

    async remove(account: string): Promise<void> {
      await alerts.deleteOne({ _id: account });
    },

    async findMany(accounts: readonly string[]): Promise<AccountAlert[]> {
      return (await alerts.find({ _id: { $in: [...accounts] } }).toArray()).map(toAlert);
    },

    /** In the order of the accounts. */
    async list({
      after,
      limit,
    }: {
      readonly after: string;
      readonly limit: number;
    }): Promise<AccountAlert[]> {
      const found = alerts.find({ _id: { $gt: after } }).sort({ _id: 1 });
      return (await found.limit(limit).toArray()).map(toAlert);
    },

    /** False: another process has said so already, or a later entry has decided. */
    async cross({ account, threshold }: BalanceLimit, { isBelow, seq, event }: Crossing): Promise<boolean> {
      const crossed = await alerts.updateOne(
        { _id: account, threshold, isBelow: !isBelow, seq: { $lt: seq } },
        {
          $set: { isBelow, seq },
          $inc: { rev: 1 },
          ...(event === undefined ? {} : { $push: { pending: { $each: [event], $slice: -pendingMax } } }),
        },
      );
      return crossed.matchedCount === 1;
    },
    ...judgedCaps(alerts),
    ...alertEvents(alerts),
  };
}

function judgedCaps(alerts: Collection<AlertDocument>) {
  return {
    /** Entries up to this one need not be compared again. */
    async noteJudged(account: string, upTo: bigint): Promise<void> {
      await alerts.updateOne({ _id: account, 'caps.upTo': { $lt: upTo } }, { $set: { 'caps.upTo': upTo } });
    },

    /** Requests a comparison with what is used now. Does nothing for an account without events about caps. */
    async noteCapsChanged(account: string): Promise<void> {
      await alerts.updateOne(
        { _id: account, 'caps.revision': { $gte: 0 } },
        { $inc: { 'caps.revision': 1 } },
      );
    },

    async noteRevisionJudged(account: string, revision: number): Promise<void> {
      await alerts.updateOne(
        { _id: account, 'caps.judged': { $lt: revision } },
        { $set: { 'caps.judged': revision } },
      );
    },
  };
}

function alertEvents(alerts: Collection<AlertDocument>) {
  return {
    /** Alerts with an event whose next request is due. */
    async due(now: number, limit: number): Promise<AccountAlert[]> {
      return (
        await alerts
          .find({ 'pending.dueAt': { $lte: now } })
          .limit(limit)
          .toArray()
      ).map(toAlert);
    },

    /** Replaces an event, or removes it. False: it is no longer as it was seen, since another process has begun it. */
    async change(account: string, seen: SeenEvent, changed: BalanceEvent | undefined): Promise<boolean> {
      for (;;) {
        const found = await alerts.findOne({ _id: account });
        const at = found?.pending.findIndex(({ id, tries }) => id === seen.id && tries === seen.tries) ?? -1;
        if (found === null || at < 0) return false;
        const pending = found.pending.toSpliced(at, 1, ...(changed === undefined ? [] : [changed]));
        const { rev } = found;
        const { matchedCount } = await alerts.updateOne(
          { _id: account, rev },
          { $set: { pending, rev: rev + 1 } },
        );
        if (matchedCount === 1) return true;
      }
    },
  };
}

function toAlert({ _id: account, sealed, rev: _rev, ...alert }: AlertDocument): AccountAlert {
  return { account, address: toSealed(sealed), ...alert };
}
