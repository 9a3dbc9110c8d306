import type { Collection, Db } from 'mongodb';
import { defined } from '../base/defined.ts';
import { inTexts, textsOf } from '../base/search-text.ts';
import type { EndUserNames } from './end-user-names.ts';
import type { EndUserCaps } from '../money/caps.ts';
import type { PriceFactors } from '../money/price-factors.ts';
import type { Sealed } from '../base/sealed.ts';
import { toCaps, toCapsDocuments, type CapsDocument } from './caps-document.ts';
import { pushed, type Change } from './changes.ts';
import { durable, ensureIndexes, openCollection, unlessThere } from './mongo.ts';
import { toSealed, toSealedDocument, type SealedDocument } from './sealed-document.ts';

export interface Account {
  readonly id: string;
  readonly name: string;
  /** Holds may take `available` this far below zero, in micro-units. */
  readonly overdraftLimit: bigint;
  readonly endUserCaps?: EndUserCaps;
  /** Undefined if the account pays list prices. */
  readonly priceFactors?: PriceFactors;
  /** Newest first. After a rotation, older secrets remain valid. */
  readonly webhookSecrets: readonly Sealed[];
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds. From then on, nothing can be created in the account. */
  readonly closedAt?: number;
  readonly changes?: readonly Change[];
  /** Set once the removal of the account's keys, tasks and names has begun. Its ledger entries stay. */
  readonly deletion?: AccountDeletion;
}

type NewAccount = Omit<Account, 'endUserCaps' | 'priceFactors'>;

/** Times are in Unix milliseconds. */
export interface AccountDeletion {
  readonly by: string;
  readonly reason: string;
  readonly requestedAt: number;
  readonly imagesUpTo?: bigint;
  readonly finishedAt?: number;
}

interface AccountDocument extends Omit<Account, 'id' | 'endUserCaps' | 'priceFactors' | 'webhookSecrets'> {
  readonly _id: string;
  readonly endUserCaps?: readonly CapsDocument[];
  readonly endUsersIgnoreCase?: boolean;
  /**
   * Models are stored as values rather than field names, because they may contain dots. The general factor has no
   * model.
   */
  readonly priceFactors?: readonly { readonly model?: string; readonly factor: string }[];
  readonly webhookSecrets: readonly SealedDocument[];
  readonly texts?: readonly string[];
  /** The account's own id. It is set only while the account's deletion is incomplete, so that the index stays small. */
  readonly deleting?: string;
}

/**
 * If the response to a rotation is lost, the rotation is repeated, and the receiver may then have only the oldest
 * secret.
 */
const webhookSecretsMax = 3;
const deletionsAtOnce = 100;

export type AccountStore = ReturnType<typeof createAccountStore>;

/** Settings can be changed until the account's deletion begins. */
function kept(id: string): { readonly _id: string; readonly deletion: { readonly $exists: false } } {
  return { _id: id, deletion: { $exists: false } };
}

export function createAccountStore(db: Db, endUsers: EndUserNames) {
  const accounts = openCollection<AccountDocument>(db, 'accounts', durable);
  const toAccount = createToAccount(endUsers);
  return {
    ensureIndexes: () =>
      ensureIndexes(accounts, [
        { name: 'deleting', key: { deleting: 1 }, sparse: true },
        { name: 'texts', key: { texts: 1 } },
      ]),

    ...accountEnds(accounts, toAccount),
    ...accountLists(accounts, toAccount),
    ...accountTerms(accounts, endUsers),

    insert: ({ id: _id, webhookSecrets, ...account }: NewAccount): Promise<boolean> =>
      unlessThere(() => {
        const sealed = webhookSecrets.map(toSealedDocument);
        const texts = textsOf(_id, account.name);
        return accounts.insertOne({ _id, texts, webhookSecrets: sealed, ...account });
      }),

    async find(id: string): Promise<Account | undefined> {
      const found = await accounts.findOne({ _id: id });
      return found === null ? undefined : toAccount(found);
    },

    async closedAmong(ids: readonly string[]): Promise<ReadonlySet<string>> {
      const closed = accounts.find({ _id: { $in: [...ids] }, closedAt: { $exists: true } });
      return new Set((await closed.project({ _id: 1 }).toArray()).map(({ _id }) => String(_id)));
    },

    /**
     * The new secret is used for signing immediately. The previous two stay valid. Like every change of a setting,
     * returns false if the account does not exist or is being deleted.
     */
    async addWebhookSecret(id: string, sealed: Sealed, change: Change): Promise<boolean> {
      const $each = [toSealedDocument(sealed)];
      const webhookSecrets = { $each, $position: 0, $slice: webhookSecretsMax };
      const changed = await accounts.updateOne(kept(id), { $push: { webhookSecrets, ...pushed(change) } });
      return changed.matchedCount === 1;
    },
  };
}

function accountTerms(accounts: Collection<AccountDocument>, endUsers: EndUserNames) {
  return {
    async setOverdraftLimit(id: string, limit: bigint, change: Change): Promise<boolean> {
      const changed = await accounts.updateOne(kept(id), {
        $set: { overdraftLimit: limit },
        $push: pushed(change),
      });
      return changed.matchedCount === 1;
    },

    async setPriceFactors(id: string, { all, models }: PriceFactors, change: Change): Promise<boolean> {
      const priceFactors = [
        ...(all === undefined ? [] : [{ factor: all }]),
        ...[...models].map(([model, factor]) => ({ model, factor })),
      ];
      const changed = await accounts.updateOne(kept(id), { $set: { priceFactors }, $push: pushed(change) });
      return changed.matchedCount === 1;
    },

    async setEndUserCaps(id: string, caps: EndUserCaps, change: Change): Promise<boolean> {
      const changed = await accounts.updateOne(kept(id), {
        $set: {
          endUserCaps: toCapsDocuments(caps.default, renamed(caps.named, endUsers.hide)),
          endUsersIgnoreCase: caps.ignoreCase === true,
        },
        $push: pushed(change),
      });
      return changed.matchedCount === 1;
    },
  };
}

function accountLists(
  accounts: Collection<AccountDocument>,
  toAccount: (document: AccountDocument) => Account,
) {
  return {
    async search(text: string, limit: number): Promise<Account[]> {
      const found = accounts.find({ texts: inTexts(text) }).limit(limit);
      return (await found.toArray()).map(toAccount);
    },

    async list(page: { readonly limit: number; readonly after?: string }): Promise<Account[]> {
      const found = await accounts
        .find(page.after === undefined ? {} : { _id: { $gt: page.after } })
        .sort({ _id: 1 })
        .limit(page.limit)
        .toArray();
      return found.map(toAccount);
    },
  };
}

function accountEnds(
  accounts: Collection<AccountDocument>,
  toAccount: (document: AccountDocument) => Account,
) {
  return {
    async close(id: string, change: Change): Promise<boolean> {
      const changed = await accounts.updateOne(
        { _id: id, closedAt: { $exists: false } },
        { $set: { closedAt: change.at }, $push: pushed(change) },
      );
      return changed.matchedCount === 1;
    },

    /** Returns false if the account does not exist, is not closed, or is being deleted. */
    async reopen(id: string, change: Change): Promise<boolean> {
      const changed = await accounts.updateOne(
        { ...kept(id), closedAt: { $exists: true } },
        { $unset: { closedAt: '' }, $push: pushed(change) },
      );
      return changed.matchedCount === 1;
    },

    /** Returns false if the account does not exist, is open, or is already being deleted. */
    async beginDeletion(id: string, deletion: AccountDeletion): Promise<boolean> {
      const begun = await accounts.updateOne(
        { ...kept(id), closedAt: { $exists: true } },
        { $set: { deletion, deleting: id } },
      );
      return begun.matchedCount === 1;
    },

    async deleting(after: string): Promise<Account[]> {
      const found = accounts.find({ deleting: { $gt: after } }).sort({ deleting: 1 });
      return (await found.limit(deletionsAtOnce).toArray()).map(toAccount);
    },

    async noteImagesRemoved(id: string, upTo: bigint): Promise<void> {
      await accounts.updateOne({ _id: id, deleting: id }, { $set: { 'deletion.imagesUpTo': upTo } });
    },

    async finishDeletion(id: string, at: number): Promise<void> {
      await accounts.updateOne(
        { _id: id, deleting: id },
        {
          $set: { name: '', texts: textsOf(id, ''), webhookSecrets: [], 'deletion.finishedAt': at },
          $unset: { deleting: '', endUserCaps: '', endUsersIgnoreCase: '', priceFactors: '', changes: '' },
        },
      );
    },
  };
}

function toFactors(factors: AccountDocument['priceFactors'] = []): PriceFactors | undefined {
  if (factors.length === 0) return undefined;
  const models = factors.flatMap(({ model, factor }) =>
    model === undefined ? [] : [[model, factor] as const],
  );
  const all = factors.find(({ model }) => model === undefined)?.factor;
  return { models: new Map(models), ...defined({ all }) };
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
      priceFactors: factors,
      deleting: _,
      texts: _texts,
      ...account
    } = document;
    const { whole, parts } = toCaps(caps);
    const endUserCaps = caps && {
      ...defined({ default: whole, ignoreCase: endUsersIgnoreCase }),
      named: renamed(parts, endUsers.read),
    };
    return {
      id,
      webhookSecrets: webhookSecrets.map(toSealed),
      ...account,
      ...defined({ endUserCaps, priceFactors: toFactors(factors) }),
    };
  };
}
