import type { Db } from 'mongodb';
import type { OperatorRole } from '../base/operator.ts';
import { durable, ensureIndexes, openCollection, unlessThere } from './mongo.ts';

/** A person or a program with a token of its own for the operators' API. Times in Unix milliseconds. */
export interface Operator {
  /** What every record of an action names. */
  readonly name: string;
  readonly roles: readonly OperatorRole[];
  /** HMAC of the token, which itself is shown once and stored nowhere. */
  readonly hmac: string;
  /** The token's first characters, to recognise it by. */
  readonly prefix: string;
  readonly createdAt: number;
  readonly createdBy: string;
  /** To the minute. */
  readonly lastUsedAt?: number;
  readonly revokedAt?: number;
  readonly revokedBy?: string;
}

interface OperatorDocument extends Omit<Operator, 'name'> {
  /** The name. */
  readonly _id: string;
}

/** Lists show no more; nobody has that many. */
const operatorsMax = 1000;

export type OperatorStore = ReturnType<typeof createOperatorStore>;

export function createOperatorStore(db: Db, now: () => number) {
  const operators = openCollection<OperatorDocument>(db, 'operators', durable);
  return {
    ensureIndexes: () => ensureIndexes(operators, [{ key: { hmac: 1 }, name: 'hmac', unique: true }]),

    /** False: there is an operator of this name. One that was revoked is replaced. */
    async insert({ name: _id, ...fields }: Operator): Promise<boolean> {
      const revoked = { _id, revokedAt: { $gt: 0 } };
      return unlessThere(() => operators.replaceOne(revoked, fields, { upsert: true }));
    },

    async findByHmac(hmac: string): Promise<Operator | undefined> {
      const found = await operators.findOne({ hmac });
      return found === null ? undefined : toOperator(found);
    },

    async list(): Promise<Operator[]> {
      const found = await operators.find({}).sort({ _id: 1 }).limit(operatorsMax).toArray();
      return found.map(toOperator);
    },

    /** False: no operator of this name. Revoking twice keeps the first time. */
    async revoke(name: string, by: string): Promise<boolean> {
      await operators.updateOne(
        { _id: name, revokedAt: { $exists: false } },
        { $set: { revokedAt: now(), revokedBy: by } },
      );
      return (await operators.countDocuments({ _id: name }, { limit: 1 })) === 1;
    },

    async noteUsed(used: ReadonlyMap<string, number>): Promise<void> {
      for (const [name, at] of used) await operators.updateOne({ _id: name }, { $max: { lastUsedAt: at } });
    },
  };
}

function toOperator({ _id: name, ...operator }: OperatorDocument): Operator {
  return { name, ...operator };
}
