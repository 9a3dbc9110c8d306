import type { Db } from 'mongodb';
import { durable, ensureIndexes, expiring, openCollection } from './mongo.ts';
import { lastUses, type LastUses } from './last-uses.ts';

export interface OperatorSession {
  readonly id: string;
  readonly operator: string;
  readonly hmac: string;
  /** The HMAC of the operator token that opened the session. The session ends with that token. */
  readonly openedBy: string;
  readonly address: string;
  readonly agent: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Accurate to the minute. */
  readonly lastUsedAt?: number;
}

interface SessionDocument extends Omit<OperatorSession, 'id' | 'expiresAt'> {
  readonly _id: string;
  readonly expires: Date;
}

export interface SessionFilter {
  readonly operator?: string;
}

/** An operator's maximum number of sessions. Opening one more ends the oldest. */
const sessionsMax = 50;
const listedMax = 1000;

export type OperatorSessionStore = ReturnType<typeof createOperatorSessionStore>;

export function createOperatorSessionStore(db: Db, now: () => number) {
  const sessions = openCollection<SessionDocument>(db, 'operator_sessions', durable);
  return {
    ensureIndexes: () =>
      ensureIndexes(sessions, [
        { name: 'hmac', key: { hmac: 1 }, unique: true },
        { name: 'operator', key: { operator: 1, createdAt: -1 } },
        { name: 'created', key: { createdAt: -1 } },
        expiring,
      ]),

    async open({ id: _id, expiresAt, ...session }: OperatorSession): Promise<void> {
      const { operator } = session;
      await sessions.insertOne({ _id, ...session, expires: new Date(expiresAt) });
      const oldest = await sessions
        .find({ operator }, { projection: { _id: 1 } })
        .sort({ createdAt: -1 })
        .skip(sessionsMax)
        .toArray();
      if (oldest.length > 0) await sessions.deleteMany({ _id: { $in: oldest.map((one) => one._id) } });
    },

    /** Ignore expired sessions that MongoDB has not removed yet. */
    async findByHmac(hmac: string): Promise<OperatorSession | undefined> {
      const found = await sessions.findOne({ hmac });
      return found === null || found.expires.getTime() <= now() ? undefined : toSession(found);
    },

    async find(id: string): Promise<OperatorSession | undefined> {
      const found = await sessions.findOne({ _id: id });
      return found === null ? undefined : toSession(found);
    },

    async list(filter: SessionFilter): Promise<OperatorSession[]> {
      const found = await sessions
        .find({ ...filter })
        .sort({ createdAt: -1 })
        .limit(listedMax)
        .toArray();
      return found.map(toSession).filter(({ expiresAt }) => expiresAt > now());
    },

    async end(id: string): Promise<boolean> {
      return (await sessions.deleteOne({ _id: id })).deletedCount === 1;
    },

    async endMany(filter: SessionFilter, except = ''): Promise<number> {
      return (await sessions.deleteMany({ ...filter, _id: { $ne: except } })).deletedCount;
    },

    async noteUsed(uses: LastUses): Promise<void> {
      await sessions.bulkWrite(lastUses(uses), { ordered: false });
    },
  };
}

function toSession({ _id: id, expires, ...session }: SessionDocument): OperatorSession {
  return { id, ...session, expiresAt: expires.getTime() };
}
