import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from './mongo.ts';

export interface AccountDocument {
  readonly _id: string;
  readonly name: string;
  /** Micro-units by which `available` may fall below zero through holds. */
  readonly overdraft_limit: bigint;
  /** Sealed with SECRETS_KEY; newest first, two are valid during a rotation. */
  readonly webhook_secrets: readonly string[];
  readonly created_at: number;
}

const webhookSecretsMax = 2;

export type AccountStore = ReturnType<typeof createAccountStore>;

export function createAccountStore(db: Db) {
  const accounts: Collection<AccountDocument> = db.collection<AccountDocument>('accounts');
  return {
    /** False: the account exists. */
    async insert(account: AccountDocument): Promise<boolean> {
      try {
        await accounts.insertOne(account);
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },

    async find(id: string): Promise<AccountDocument | undefined> {
      return (await accounts.findOne({ _id: id })) ?? undefined;
    },

    async list(page: { readonly limit: number; readonly after?: string }): Promise<AccountDocument[]> {
      return accounts
        .find(page.after === undefined ? {} : { _id: { $gt: page.after } })
        .sort({ _id: 1 })
        .limit(page.limit)
        .toArray();
    },

    /** The new secret signs from now on; the one before stays valid until the next rotation. */
    async addWebhookSecret(id: string, sealed: string): Promise<boolean> {
      const changed = await accounts.updateOne(
        { _id: id },
        { $push: { webhook_secrets: { $each: [sealed], $position: 0, $slice: webhookSecretsMax } } },
      );
      return changed.matchedCount === 1;
    },
  };
}
