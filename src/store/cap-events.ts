import type { Collection, Db } from 'mongodb';
import type { EndUserNames } from './end-user-names.ts';
import { windowName, type CapPercent, type ReachedCap } from '../money/cap-alerts.ts';
import { defined } from '../base/defined.ts';
import { dayMs } from '../base/times.ts';
import { durable, ensureIndexes, expiring, openCollection, unlessThere } from './mongo.ts';

/** Sent once per cap, percentage and window. Kept after delivery to prevent duplicates. */
export interface CapEvent extends ReachedCap {
  readonly id: string;
  readonly account: string;
  readonly tries: number;
  /** Unix milliseconds. */
  readonly dueAt: number;
}

interface CapEventDocument extends Omit<CapEvent, 'id' | 'dueAt'> {
  /** Combines account, window and percentage, so that two processes cannot report the same event. */
  readonly _id: string;
  readonly event: string;
  readonly dueAt?: number;
  readonly expires?: Date;
}

/** Events are kept for this long after the end of the window. Deliveries are retried for a shorter time. */
const keptMs = 8 * dayMs;
/**
 * How long an event of an end user's lifetime cap is kept after the end user last spent. Callers choose the names of
 * end users, so the number of end users has no limit. The numbers of keys and models are limited, so the events of
 * their caps are kept. If an end user spends again after this time, an event may be repeated.
 */
const unusedKeptMs = 365 * dayMs;
/** An expiry is renewed at most this often. */
const renewedEveryMs = 30 * dayMs;

export type CapEventStore = ReturnType<typeof createCapEventStore>;

export function createCapEventStore(db: Db, endUsers: EndUserNames) {
  const events = openCollection<CapEventDocument>(db, 'cap_events', durable);

  const hidden = <Reached extends Pick<ReachedCap, 'by'>>(reached: Reached): Reached =>
    withName(reached, endUsers.hide);
  const placeOf = (account: string, reached: Pick<ReachedCap, 'cap' | 'by' | 'percent'>): string =>
    `${account}/${windowName(hidden(reached))}/${reached.percent satisfies CapPercent}`;

  const existing = (asked: readonly string[]): Promise<string[]> => findExisting(events, asked);

  return {
    ensureIndexes: () =>
      ensureIndexes(events, [
        expiring,
        { name: 'account_due', key: { account: 1, dueAt: 1 } },
        { name: 'due', key: { dueAt: 1 }, sparse: true },
      ]),

    /** Also renews the expiry of events that have been reported before, so that they are not reported again. */
    async add(found: readonly CapEvent[]): Promise<void> {
      const reported = new Set(await existing(found.map((event) => placeOf(event.account, event))));
      const undated = found.filter(isUndated).map((event) => placeOf(event.account, event));
      await renew(events, undated, found[0]?.dueAt);
      for (const { id: event, ...rest } of found) {
        const _id = placeOf(rest.account, rest);
        if (reported.has(_id)) continue;
        reported.add(_id);
        const expires = defined({ expires: expiryOf(rest) });
        await unlessThere(() => events.insertOne({ _id, event, ...hidden(rest), ...expires }));
      }
    },

    async reported<Asked extends Pick<ReachedCap, 'cap' | 'by' | 'percent'>>(
      account: string,
      asked: readonly Asked[],
    ): Promise<Asked[]> {
      const known = new Set(await existing(asked.map((one) => placeOf(account, one))));
      return asked.filter((one) => known.has(placeOf(account, one)));
    },

    dueAccounts: (now: number): Promise<string[]> => events.distinct('account', { dueAt: { $lte: now } }),

    async due(account: string, now: number, limit: number): Promise<CapEvent[]> {
      const found = events.find({ account, dueAt: { $lte: now } }).sort({ dueAt: 1 });
      return (await found.limit(limit).toArray()).map((document) =>
        withName(toEvent(document), endUsers.read),
      );
    },

    countUndelivered: (account: string): Promise<number> =>
      events.countDocuments({ account, dueAt: { $gt: 0 } }),

    /**
     * Pass undefined if nothing is left to send. Returns false if another process has changed the event since it was
     * read.
     */
    async change(
      seen: Pick<CapEvent, 'account' | 'tries' | 'cap' | 'by' | 'percent'>,
      changed: Pick<CapEvent, 'tries' | 'dueAt'> | undefined,
    ): Promise<boolean> {
      const { matchedCount } = await events.updateOne(
        { _id: placeOf(seen.account, seen), tries: seen.tries },
        changed === undefined ? { $unset: { dueAt: '' } } : { $set: changed },
      );
      return matchedCount === 1;
    },

    async removeAll(account: string): Promise<void> {
      await events.deleteMany({ account });
    },
  };
}

async function findExisting(
  events: Collection<CapEventDocument>,
  asked: readonly string[],
): Promise<string[]> {
  if (asked.length === 0) return [];
  const found = events.find({ _id: { $in: [...asked] } }, { projection: { _id: 1 } });
  return (await found.toArray()).map(({ _id }) => _id);
}

async function renew(
  events: Collection<CapEventDocument>,
  ids: readonly string[],
  now: number = 0,
): Promise<void> {
  if (ids.length === 0) return;
  const expires = new Date(now + unusedKeptMs);
  await events.updateMany(
    { _id: { $in: [...ids] }, expires: { $lt: new Date(expires.getTime() - renewedEveryMs) } },
    { $set: { expires } },
  );
}

function isUndated({ cap: { scope, resetsAt } }: Pick<CapEvent, 'cap'>): boolean {
  return scope === 'end_user' && resetsAt === undefined;
}

function expiryOf(event: Pick<CapEvent, 'cap' | 'dueAt'>): Date | undefined {
  const { resetsAt } = event.cap;
  if (resetsAt !== undefined) return new Date(resetsAt + keptMs);
  return isUndated(event) ? new Date(event.dueAt + unusedKeptMs) : undefined;
}

function withName<Reached extends Pick<ReachedCap, 'by'>>(
  reached: Reached,
  change: (name: string) => string,
): Reached {
  const { endUser } = reached.by;
  return endUser === undefined ? reached : { ...reached, by: { ...reached.by, endUser: change(endUser) } };
}

function toEvent({ _id, event: id, expires: _expires, dueAt = 0, ...rest }: CapEventDocument): CapEvent {
  return { id, dueAt, ...rest };
}
