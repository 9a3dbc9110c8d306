import type { Collection, Db } from 'mongodb';
import { defined } from '../domain/defined.ts';
import type { Sealed } from '../domain/sealed.ts';
import { pushed } from './changes.ts';
import type { Change } from './changes.ts';
import { isDuplicateKey } from './mongo.ts';
import { toSealed, toSealedDocument } from './sealed-document.ts';
import type { SealedDocument } from './sealed-document.ts';

export interface Account {
  readonly id: string;
  readonly name: string;
  /** Micro-units by which `available` may fall below zero through holds. */
  readonly overdraftLimit: bigint;
  /** Newest first; two are valid during a rotation. */
  readonly webhookSecrets: readonly Sealed[];
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds: from then on nothing new is created. */
  readonly closedAt?: number;
  readonly changes?: readonly Change[];
}

interface AccountDocument {
  readonly _id: string;
  readonly name: string;
  readonly overdraft_limit: bigint;
  readonly webhook_secrets: readonly SealedDocument[];
  readonly created_at: number;
  readonly closed_at?: number;
  readonly changes?: readonly Change[];
}

const webhookSecretsMax = 2;

export type AccountStore = ReturnType<typeof createAccountStore>;

export function createAccountStore(db: Db) {
  const accounts: Collection<AccountDocument> = db.collection<AccountDocument>('accounts');
  return {
    /** False: the account exists. */
    async insert(account: Account): Promise<boolean> {
      try {
        await accounts.insertOne(toDocument(account));
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },

    async find(id: string): Promise<Account | undefined> {
      const found = await accounts.findOne({ _id: id });
      return found === null ? undefined : toAccount(found);
    },

    async list(page: { readonly limit: number; readonly after?: string }): Promise<Account[]> {
      const found = await accounts
        .find(page.after === undefined ? {} : { _id: { $gt: page.after } })
        .sort({ _id: 1 })
        .limit(page.limit)
        .toArray();
      return found.map(toAccount);
    },

    /** The new secret signs from now on; the one before stays valid until the next rotation. */
    async addWebhookSecret(id: string, sealed: Sealed, change: Change): Promise<boolean> {
      const $each = [toSealedDocument(sealed)];
      const secrets = { webhook_secrets: { $each, $position: 0, $slice: webhookSecretsMax } };
      const changed = await accounts.updateOne({ _id: id }, { $push: { ...secrets, ...pushed(change) } });
      return changed.matchedCount === 1;
    },

    async setOverdraftLimit(id: string, limit: bigint, change: Change): Promise<boolean> {
      const changed = await accounts.updateOne(
        { _id: id },
        { $set: { overdraft_limit: limit }, $push: pushed(change) },
      );
      return changed.matchedCount === 1;
    },

    /** False: there is no such account, or it is already closed. */
    async close(id: string, change: Change): Promise<boolean> {
      const changed = await accounts.updateOne(
        { _id: id, closed_at: { $exists: false } },
        { $set: { closed_at: change.at }, $push: pushed(change) },
      );
      return changed.matchedCount === 1;
    },

    /** False: there is no such account, or it is not closed. */
    async reopen(id: string, change: Change): Promise<boolean> {
      const changed = await accounts.updateOne(
        { _id: id, closed_at: { $exists: true } },
        { $unset: { closed_at: '' }, $push: pushed(change) },
      );
      return changed.matchedCount === 1;
    },
  };
}

function toDocument(account: Account): AccountDocument {
  return {
    _id: account.id,
    name: account.name,
    overdraft_limit: account.overdraftLimit,
    webhook_secrets: account.webhookSecrets.map(toSealedDocument),
    created_at: account.createdAt,
    ...defined({ closed_at: account.closedAt, changes: account.changes }),
  };
}

function toAccount(document: AccountDocument): Account {
  return {
    id: document._id,
    name: document.name,
    overdraftLimit: document.overdraft_limit,
    webhookSecrets: document.webhook_secrets.map(toSealed),
    createdAt: document.created_at,
    ...defined({ closedAt: document.closed_at, changes: document.changes }),
  };
}
