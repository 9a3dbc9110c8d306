import type { Db } from 'mongodb';
import type { OperatorRole } from '../base/operator.ts';
import { invitationIndex, redemptionOf, type RedeemedLink } from './invitations.ts';
import type { Invitation } from '../base/invitation.ts';
import { durable, ensureIndexes, openCollection, unlessThere } from './mongo.ts';
import { lastUses, type LastUses } from './last-uses.ts';

/** A human or a program with its own token for the operators' API. Times are in Unix milliseconds. */
export interface Operator {
  readonly name: string;
  readonly roles: readonly OperatorRole[];
  /** The token itself is displayed once and never stored. */
  readonly hmac: string;
  readonly prefix: string;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly invitation?: Invitation;
  /** Accurate to the minute. */
  readonly lastUsedAt?: number;
  readonly revokedAt?: number;
  readonly revokedBy?: string;
}

interface OperatorDocument extends Omit<Operator, 'name'> {
  readonly _id: string;
}

const operatorsMax = 1000;

export type OperatorStore = ReturnType<typeof createOperatorStore>;

export function createOperatorStore(db: Db, now: () => number) {
  const operators = openCollection<OperatorDocument>(db, 'operators', durable);
  return {
    ensureIndexes: () =>
      ensureIndexes(operators, [{ key: { hmac: 1 }, name: 'hmac', unique: true }, invitationIndex]),

    /** Returns false if the name is taken. Replaces an operator who was revoked or has not used the invitation. */
    async insert({ name: _id, ...fields }: Operator): Promise<boolean> {
      const unused = { 'invitation.hmac': { $exists: true }, 'invitation.usedAt': { $exists: false } };
      const replaced = { _id, $or: [{ revokedAt: { $gt: 0 } }, unused] };
      return unlessThere(() => operators.replaceOne(replaced, fields, { upsert: true }));
    },

    async findInvited(link: string): Promise<Operator | undefined> {
      const found = await operators.findOne({ 'invitation.hmac': link });
      return found === null ? undefined : toOperator(found);
    },

    /** Returns undefined if the link has been used, revoked or replaced, or has expired. */
    async redeem(redeemed: RedeemedLink): Promise<Operator | undefined> {
      const { filter, update } = redemptionOf(redeemed, now());
      const found = await operators.findOneAndUpdate(filter, update, { returnDocument: 'after' });
      return found === null ? undefined : toOperator(found);
    },

    async withdraw(name: string, by: string): Promise<boolean> {
      const withdrawn = await operators.updateOne(
        {
          _id: name,
          'invitation.hmac': { $exists: true },
          'invitation.usedAt': { $exists: false },
          revokedAt: { $exists: false },
        },
        { $set: { revokedAt: now(), revokedBy: by } },
      );
      return withdrawn.modifiedCount === 1;
    },

    async findByHmac(hmac: string): Promise<Operator | undefined> {
      const found = await operators.findOne({ hmac });
      return found === null ? undefined : toOperator(found);
    },

    async list(): Promise<Operator[]> {
      const found = await operators.find({}).sort({ _id: 1 }).limit(operatorsMax).toArray();
      return found.map(toOperator);
    },

    /** Returns false if no operator has this name. An operator who is already revoked keeps the original time. */
    async revoke(name: string, by: string): Promise<boolean> {
      await operators.updateOne(
        { _id: name, revokedAt: { $exists: false } },
        { $set: { revokedAt: now(), revokedBy: by } },
      );
      return (await operators.countDocuments({ _id: name }, { limit: 1 })) === 1;
    },

    /** Returns the operator as it was before the change, or undefined if no operator with this name has access. */
    async setRoles(name: string, roles: readonly OperatorRole[]): Promise<Operator | undefined> {
      const found = await operators.findOneAndUpdate(
        { _id: name, revokedAt: { $exists: false } },
        { $set: { roles } },
        { returnDocument: 'before' },
      );
      return found === null ? undefined : toOperator(found);
    },

    async noteUsed(uses: LastUses): Promise<void> {
      await operators.bulkWrite(lastUses(uses), { ordered: false });
    },
  };
}

function toOperator({ _id: name, ...operator }: OperatorDocument): Operator {
  return { name, ...operator };
}
