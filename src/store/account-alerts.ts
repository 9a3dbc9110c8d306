import type { Collection, Db } from 'mongodb';
import { defined } from '../base/defined.ts';
import type { Micros } from '../money/money.ts';
import type { Sealed } from '../base/sealed.ts';
import { durable, ensureIndexes, openCollection } from './mongo.ts';
import { toSealed, toSealedDocument, type SealedDocument } from './sealed-document.ts';

/** Times are in Unix milliseconds. */
export interface AccountAlert {
  readonly account: string;
  /** An event is sent each time the balance falls below this amount. Undefined if none should be sent. */
  readonly threshold?: Micros;
  /** An event is sent when usage reaches one of these percentages of a cap. Undefined if none should be sent. */
  readonly caps?: JudgedCaps;
  /** The URL that receives the events, sealed because it may contain secrets. */
  readonly address: Sealed;
  readonly isBelow: boolean;
  /** The ledger entry that last changed `isBelow`. Older entries are ignored. */
  readonly seq: bigint;
  readonly pending: readonly BalanceEvent[];
}

export interface JudgedCaps {
  /** Usage up to this ledger entry has been compared with the caps. */
  readonly upTo: bigint;
  readonly revision: number;
  readonly judged: number;
}

export interface BalanceEvent {
  readonly id: string;
  readonly available: Micros;
  readonly at: number;
  readonly tries: number;
  readonly dueAt: number;
}

type SeenEvent = Pick<BalanceEvent, 'id' | 'tries'>;

export interface Crossing {
  readonly isBelow: boolean;
  readonly seq: bigint;
  readonly event?: BalanceEvent;
}

interface AlertDocument extends Omit<AccountAlert, 'account' | 'address'> {
  readonly _id: string;
  readonly sealed: SealedDocument;
  /** Optimistic lock: every change of the events checks that `rev` is unchanged. */
  readonly rev: number;
}

/** If the balance keeps falling while the receiver is down, only the newest events are kept. */
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

    /** Sets the account's limits. Limits that have already been reached are reported too. */
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

    /**
     * Returns false if another process has already reported the crossing, or if a later entry has been evaluated since.
     */
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
    async noteJudged(account: string, upTo: bigint): Promise<void> {
      await alerts.updateOne({ _id: account, 'caps.upTo': { $lt: upTo } }, { $set: { 'caps.upTo': upTo } });
    },

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
    async due(now: number, limit: number): Promise<AccountAlert[]> {
      return (
        await alerts
          .find({ 'pending.dueAt': { $lte: now } })
          .limit(limit)
          .toArray()
      ).map(toAlert);
    },

    /**
     * Returns false if another process has started to deliver the event since it was read. Undefined removes the event.
     */
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
