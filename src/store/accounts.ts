import type { Collection, Db } from 'mongodb';
import { defined } from '../base/defined.ts';
import type { EndUserNames } from './end-user-names.ts';
import type { EndUserCaps } from '../money/caps.ts';
import type { Sealed } from '../base/sealed.ts';
import { toCaps, toCapsDocuments } from './caps-document.ts';
import type { CapsDocument } from './caps-document.ts';
import { pushed } from './changes.ts';
import type { Change } from './changes.ts';
import { durable, ensureIndexes, openCollection, unlessThere } from './mongo.ts';
import { toSealed, toSealedDocument } from './sealed-document.ts';
import type { SealedDocument } from './sealed-document.ts';

export interface Account {
  readonly id: string;
  readonly name: string;
  /** Micro-units by which `available` may fall below zero through holds. */
  readonly overdraftLimit: bigint;
  /** Absent: none. */
  readonly endUserCaps?: EndUserCaps;
  /** Newest first; two are valid during a rotation. */
  readonly webhookSecrets: readonly Sealed[];
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds: from then on nothing new is created. */
  readonly closedAt?: number;
  readonly changes?: readonly Change[];
  /** Its keys, tasks and names are removed, or are about to be; the ledger stays. */
  readonly deletion?: AccountDeletion;
}

type NewAccount = Omit<Account, 'endUserCaps'>;

/** Times in Unix milliseconds. */
export interface AccountDeletion {
  readonly by: string;
  readonly reason: string;
  readonly requestedAt: number;
  /** Images that the ledger names are removed up to this entry. */
  readonly imagesUpTo?: bigint;
  /** Absent: there is more to be done. */
  readonly finishedAt?: number;
}

interface AccountDocument extends Omit<Account, 'id' | 'endUserCaps' | 'webhookSecrets'> {
  readonly _id: string;
  /** Caps of a single end user name the user by pseudonym. */
  readonly endUserCaps?: readonly CapsDocument[];
  readonly endUsersIgnoreCase?: boolean;
  readonly webhookSecrets: readonly SealedDocument[];
  /** The account again, while its deletion is not complete: an index of few. */
  readonly deleting?: string;
}

/** The one before the last may be the only one that a receiver knows: whose answer was lost, rotates again. */
const webhookSecretsMax = 3;
const deletionsAtOnce = 100;

export type AccountStore = ReturnType<typeof createAccountStore>;

export function createAccountStore(db: Db, endUsers: EndUserNames) {
  const accounts = openCollection<AccountDocument>(db, 'accounts', durable);
  const toAccount = createToAccount(endUsers);
  return {
    ensureIndexes: () => ensureIndexes(accounts, [{ name: 'deleting', key: { deleting: 1 }, sparse: true }]),

    ...accountEnds(accounts, toAccount),

    /** False: the account exists. */
    insert: ({ id: _id, webhookSecrets, ...account }: NewAccount): Promise<boolean> =>
      unlessThere(() => {
        const sealed = webhookSecrets.map(toSealedDocument);
        return accounts.insertOne({ _id, webhookSecrets: sealed, ...account });
      }),

    async find(id: string): Promise<Account | undefined> {
      const found = await accounts.findOne({ _id: id });
      return found === null ? undefined : toAccount(found);
    },

    /** Those of these accounts that are closed. */
    async closedAmong(ids: readonly string[]): Promise<ReadonlySet<string>> {
      const closed = accounts.find({ _id: { $in: [...ids] }, closedAt: { $exists: true } });
      return new Set((await closed.project({ _id: 1 }).toArray()).map(({ _id }) => String(_id)));
    },

    async list(page: { readonly limit: number; readonly after?: string }): Promise<Account[]> {
      const found = await accounts
        .find(page.after === undefined ? {} : { _id: { $gt: page.after } })
        .sort({ _id: 1 })
        .limit(page.limit)
        .toArray();
      return found.map(toAccount);
    },

    /** The new secret signs from now on; the two before it stay valid. */
    async addWebhookSecret(id: string, sealed: Sealed, change: Change): Promise<boolean> {
      const $each = [toSealedDocument(sealed)];
      const webhookSecrets = { $each, $position: 0, $slice: webhookSecretsMax };
      const changed = await accounts.updateOne({ _id: id }, { $push: { webhookSecrets, ...pushed(change) } });
      return changed.matchedCount === 1;
    },

    async setOverdraftLimit(id: string, limit: bigint, change: Change): Promise<boolean> {
      const changed = await accounts.updateOne(
        { _id: id },
        { $set: { overdraftLimit: limit }, $push: pushed(change) },
      );
      return changed.matchedCount === 1;
    },

    /** Replaces them. False: there is no such account. */
    async setEndUserCaps(id: string, caps: EndUserCaps, change: Change): Promise<boolean> {
      const changed = await accounts.updateOne(
        { _id: id },
        {
          $set: {
            endUserCaps: toCapsDocuments(caps.default, renamed(caps.named, endUsers.hide)),
            endUsersIgnoreCase: caps.ignoreCase === true,
          },
          $push: pushed(change),
        },
      );
      return changed.matchedCount === 1;
    },
  };
}

function accountEnds(
  accounts: Collection<AccountDocument>,
  toAccount: (document: AccountDocument) => Account,
) {
  return {
    /** False: there is no such account, or it is already closed. */
    async close(id: string, change: Change): Promise<boolean> {
      const changed = await accounts.updateOne(
        { _id: id, closedAt: { $exists: false } },
        { $set: { closedAt: change.at }, $push: pushed(change) },
      );
      return changed.matchedCount === 1;
    },

    /** False: there is no such account, it is not closed, or it is being deleted. */
    async reopen(id: string, change: Change): Promise<boolean> {
      const changed = await accounts.updateOne(
        { _id: id, closedAt: { $exists: true }, deletion: { $exists: false } },
        { $unset: { closedAt: '' }, $push: pushed(change) },
      );
      return changed.matchedCount === 1;
    },

    /** False: there is no such account, it is open, or it is being deleted already. */
    async beginDeletion(id: string, deletion: AccountDeletion): Promise<boolean> {
      const begun = await accounts.updateOne(
        { _id: id, closedAt: { $exists: true }, deletion: { $exists: false } },
        { $set: { deletion, deleting: id } },
      );
      return begun.matchedCount === 1;
    },

    /** Those whose deletion is not complete, some of them. */
    async deleting(): Promise<Account[]> {
      const found = accounts.find({ deleting: { $gt: '' } }).sort({ deleting: 1 });
      return (await found.limit(deletionsAtOnce).toArray()).map(toAccount);
    },

    async noteImagesRemoved(id: string, upTo: bigint): Promise<void> {
      await accounts.updateOne({ _id: id, deleting: id }, { $set: { 'deletion.imagesUpTo': upTo } });
    },

    /** Nothing is left but the id, when it was made and closed, and who had it deleted. */
    async finishDeletion(id: string, at: number): Promise<void> {
      await accounts.updateOne(
        { _id: id, deleting: id },
        {
          $set: { name: '', webhookSecrets: [], 'deletion.finishedAt': at },
          $unset: { deleting: '', endUserCaps: '', endUsersIgnoreCase: '', changes: '' },
        },
      );
    },
  };
}

function renamed<Value>(
  parts: ReadonlyMap<string, Value>,
  rename: (name: string) => string,
): ReadonlyMap<string, Value> {
  return new Map([...parts].map(([name, value]) => [rename(name), value]));
}

function createToAccount(endUsers: EndUserNames) {
  return (document: AccountDocument): Account => {
    const {
      _id: id,
      webhookSecrets,
      endUserCaps: caps,
      endUsersIgnoreCase,
      deleting: _,
      ...account
    } = document;
    const { whole, parts } = toCaps(caps);
    const endUserCaps = caps && {
      ...defined({ default: whole, ignoreCase: endUsersIgnoreCase }),
      named: renamed(parts, endUsers.read),
    };
    return { id, webhookSecrets: webhookSecrets.map(toSealed), ...account, ...defined({ endUserCaps }) };
  };
}
