import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { Buffer } from 'node:buffer';
import type { Db } from 'mongodb';
import { isDuplicateKey } from '../store/mongo.ts';
import { anchorCollection, ledgerCollection } from './collection.ts';
import { entryId, type Head } from './entry.ts';
import { dayMs, utcDay } from '../base/times.ts';

/**
 * A signed copy of an account's head, stored outside the account's chain of entries. It reveals whether the chain was
 * truncated or rewritten later.
 */
export interface AnchoredHead {
  readonly account: string;
  readonly seq: bigint;
  readonly hash: string;
  /** When the head was read, in Unix milliseconds rounded down to a second. */
  readonly at: number;
  readonly signature: string;
}

export type SeenHead = Omit<AnchoredHead, 'signature'>;

export interface AnchorDocument extends AnchoredHead {
  /** Ids sort by account and seq. A head that has not changed keeps its id, so it is anchored only once. */
  readonly _id: string;
}

type IsSigned = (head: AnchoredHead) => boolean;

export type HeadAnchors = ReturnType<typeof createHeadAnchors>;

const chunkSize = 500;
const seqDigits = 19;

export function createHeadAnchors(db: Db, key: Uint8Array) {
  const anchors = anchorCollection(db);
  const { signatureOf, isSigned } = createHeadSigner(key);

  async function anchor(heads: readonly SeenHead[]): Promise<number> {
    const documents = heads.map(({ account, seq, hash, at: seenAt }): AnchorDocument => {
      const head = { account, seq, hash, at: seenAt - (seenAt % 1000) };
      return { _id: anchorId(head), ...head, signature: signatureOf(head).toString('hex') };
    });
    const known = await anchors
      .find({ _id: { $in: documents.map(({ _id }) => _id) } }, { projection: { _id: 1 } })
      .toArray();
    const ids = new Set(known.map(({ _id }) => _id));
    const left = documents.filter(({ _id }) => !ids.has(_id));
    if (left.length === 0) return 0;
    try {
      await anchors.insertMany(left, { ordered: false });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    return left.length;
  }

  return {
    anchor,

    isSigned,

    /** Returns the heads, oldest first. There is at most one per day, plus one per verification. */
    async of(account: string): Promise<AnchoredHead[]> {
      return (await anchors.find({ account }).sort({ seq: 1 }).toArray()).map(toHead);
    },

    async list(page: { readonly after?: string; readonly limit: number }): Promise<AnchoredHead[]> {
      const from = page.after === undefined ? '' : anchorIdOf(page.after);
      const found = anchors.find({ _id: { $gt: from } }).sort({ _id: 1 });
      return (await found.limit(page.limit).toArray()).map(toHead);
    },

    newest: () => anchors.aggregate<AnchoredHead>(newestOfEach('signature')),

    /** Accepts at most 500 exported heads. */
    check: (heads: readonly AnchoredHead[]) => checkHeads(db, heads, isSigned),

    async anchorAll(at: number): Promise<number> {
      const heads = ledgerCollection(db).aggregate<SeenHead>(newestOfEach());
      let count = 0;
      let chunk: SeenHead[] = [];
      for await (const head of heads) {
        chunk.push({ ...head, at });
        if (chunk.length < chunkSize) continue;
        count += await anchor(chunk);
        chunk = [];
      }
      return count + (chunk.length === 0 ? 0 : await anchor(chunk));
    },
  };
}

async function checkHeads(db: Db, heads: readonly AnchoredHead[], isSigned: IsSigned): Promise<string[]> {
  const ids = heads.map(({ account, seq }) => entryId(account, seq));
  const found = await ledgerCollection(db)
    .find({ _id: { $in: ids } }, { projection: { seq: 1, hash: 1 } })
    .toArray();
  const entries = new Map(found.map((entry) => [entry._id, entry]));
  const faults: string[] = [];
  heads.forEach((head, n) => {
    const check = createAnchorCheck([head], { isSigned, onFault: (message) => faults.push(message) });
    const entry = entries.get(ids[n] ?? '');
    if (entry !== undefined) check.next(entry);
    check.end();
  });
  return faults;
}

function createHeadSigner(key: Uint8Array) {
  const secret = createSecretKey(key);

  function signatureOf({ account, seq, hash, at }: SeenHead): Buffer {
    // Entries are hashed as arrays of a different length, so a signed head can never pass for an entry.
    const text = JSON.stringify([account, `${seq}`, hash, `${at}`]);
    return createHmac('sha256', secret).update(text).digest();
  }

  function isSigned(head: AnchoredHead): boolean {
    const given = Buffer.from(`${head.signature}`, 'hex');
    const right = signatureOf(head);
    return given.length === right.length && timingSafeEqual(given, right);
  }

  return { signatureOf, isSigned };
}

/**
 * Finds each account's newest document. MongoDB can skip from account to account in the index, so the cost does not
 * depend on the number of entries.
 */
function newestOfEach(...more: readonly string[]): object[] {
  const fields = ['seq', 'hash', 'at', ...more];
  const first = Object.fromEntries(fields.map((name) => [name, { $first: `$${name}` }]));
  return [
    { $match: { account: { $gt: '' } } },
    { $sort: { account: 1, seq: -1 } },
    { $group: { _id: '$account', account: { $first: '$account' }, ...first } },
  ];
}

function anchorId({ account, seq }: Pick<AnchoredHead, 'account' | 'seq'>): string {
  return `${account}/${String(seq).padStart(seqDigits, '0')}`;
}

function anchorIdOf(entry: string): string {
  const [account = '', seq = ''] = entry.split('/');
  return `${account}/${seq.padStart(seqDigits, '0')}`;
}

function toHead({ account, seq, hash, at, signature }: AnchorDocument): AnchoredHead {
  return { account, seq, hash, at, signature };
}

export interface AnchorCheck {
  next(entry: Pick<Head, 'seq' | 'hash'>): void;
  end(): void;
}

/** @param heads - Must be ordered by seq. */
export function createAnchorCheck(
  heads: readonly AnchoredHead[],
  { isSigned, onFault }: { readonly isSigned: IsSigned; readonly onFault: (message: string) => void },
): AnchorCheck {
  const name = ({ account, seq }: AnchoredHead): string => entryId(account, seq);
  const left = heads.filter((head) => {
    if (isSigned(head)) return true;
    onFault(`${name(head)}: the anchored head is not signed by this gateway`);
    return false;
  });
  let at = 0;
  return {
    next({ seq, hash }) {
      for (let head = left[at]; head !== undefined && head.seq <= seq; head = left[at]) {
        at += 1;
        if (head.seq === seq && head.hash === hash) continue;
        onFault(`${name(head)}: is not the entry that was anchored as the head on ${utcDay(head.at)}`);
      }
    },
    end() {
      for (const head of left.slice(at))
        onFault(`${name(head)}: was the head on ${utcDay(head.at)}, but is missing`);
    },
  };
}

/** Anchors all heads at most once a day per process. */
export function dailyAnchors(
  { anchorAll }: Pick<HeadAnchors, 'anchorAll'>,
  now: () => number,
): () => Promise<number> {
  let lastDay: number | undefined;
  return async () => {
    const at = now();
    const day = Math.floor(at / dayMs);
    if (day === lastDay) return 0;
    const count = await anchorAll(at);
    lastDay = day;
    return count;
  };
}
