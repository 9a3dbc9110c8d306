import type { Db } from 'mongodb';
import type { EndUserNames } from './end-user-names.ts';
import { windowName } from '../money/cap-alerts.ts';
import type { CapPercent, ReachedCap } from '../money/cap-alerts.ts';
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

/** Kept for this long after the end of the window, which is longer than deliveries are retried. */
const keptMs = 8 * dayMs;

export type CapEventStore = ReturnType<typeof createCapEventStore>;

export function createCapEventStore(db: Db, endUsers: EndUserNames) {
  const events = openCollection<CapEventDocument>(db, 'cap_events', durable);

  const hidden = <Reached extends Pick<ReachedCap, 'by'>>(reached: Reached): Reached =>
    withName(reached, endUsers.hide);
  const placeOf = (account: string, reached: Pick<ReachedCap, 'cap' | 'by' | 'percent'>): string =>
    `${account}/${windowName(hidden(reached))}/${reached.percent satisfies CapPercent}`;

  async function existing(asked: readonly string[]): Promise<string[]> {
    if (asked.length === 0) return [];
    const found = events.find({ _id: { $in: [...asked] } }, { projection: { _id: 1 } });
    return (await found.toArray()).map(({ _id }) => _id);
  }

  return {
    ensureIndexes: () =>
      ensureIndexes(events, [
        expiring,
        { name: 'account_due', key: { account: 1, dueAt: 1 } },
        { name: 'due', key: { dueAt: 1 }, sparse: true },
      ]),

    async add(found: readonly CapEvent[]): Promise<void> {
      const reported = new Set(await existing(found.map((event) => placeOf(event.account, event))));
      for (const { id: event, ...rest } of found) {
        const _id = placeOf(rest.account, rest);
        if (reported.has(_id)) continue;
        reported.add(_id);
        const { resetsAt } = rest.cap;
        const expires = resetsAt === undefined ? {} : { expires: new Date(resetsAt + keptMs) };
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
