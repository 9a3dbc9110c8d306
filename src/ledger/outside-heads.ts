import { z } from 'zod';
import { dayMs, utcDay } from '../base/times.ts';
import type { AnchoredHead, HeadAnchors } from './anchored-heads.ts';

/** A place outside MongoDB that keeps the signed heads of each day. Whoever can change the ledger should not be able to change it. */
export interface HeadsPlace {
  /** Keeps what is already there for the day. */
  write(day: string, heads: AsyncIterable<Uint8Array>): Promise<void>;
  /** Undefined: nothing is kept for the day. Absent: the place cannot be read. */
  readonly read?: (day: string) => Promise<AsyncIterable<Uint8Array> | undefined>;
  close(): void;
}

/** Undefined: no place is configured. */
export type OpenHeadsPlace = () => HeadsPlace | undefined;

/** How far the exported heads were compared with the ledger. */
export interface OutsideHeads {
  /** Days whose heads were found. */
  readonly days: number;
  readonly heads: number;
  /** The newest of these days. */
  readonly newest?: string;
}

/** Days that a verification reads. Older files are compared with `ledger verify --heads`. */
export const daysCompared = 31;
const headsAtOnce = 500;

interface ExportDeps {
  readonly anchors: Pick<HeadAnchors, 'newest'>;
  readonly openPlace: OpenHeadsPlace;
  readonly now: () => number;
}

/** Exports the newest head of each account, once a day and process. */
export function dailyExport({ anchors, openPlace, now }: ExportDeps): () => Promise<number> {
  let lastDay: string | undefined;
  return async () => {
    const day = utcDay(now());
    const place = day === lastDay ? undefined : openPlace();
    if (place === undefined) return 0;
    let count = 0;
    try {
      await place.write(
        day,
        linesOf(anchors.newest(), () => (count += 1)),
      );
      lastDay = day;
      return count;
    } finally {
      place.close();
    }
  };
}

async function* linesOf(
  heads: AsyncIterable<AnchoredHead>,
  onHead: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { account, seq, hash, at: seenAt, signature } of heads) {
    onHead();
    const line = { account, seq: Number(seq), hash, at: seenAt / 1000, signature };
    yield Buffer.from(`${JSON.stringify(line)}\n`);
  }
}

interface CompareDeps {
  readonly anchors: Pick<HeadAnchors, 'check'>;
  readonly place: HeadsPlace;
  readonly now: () => number;
  readonly onFault: (message: string) => void;
}

/** Compares the ledger with the heads of the last days. Undefined: the place cannot be read. */
export async function compareOutside(deps: CompareDeps): Promise<OutsideHeads | undefined> {
  const { place, now, onFault } = deps;
  const { read } = place;
  if (read === undefined) return undefined;
  const found: string[] = [];
  const heads = new Map<string, AnchoredHead>();
  for (let ago = 0; ago < daysCompared; ago += 1) {
    const day = utcDay(now() - ago * dayMs);
    try {
      const file = await read(day);
      if (file === undefined) continue;
      found.push(day);
      // A head that did not change stands in the files of many days.
      for (const head of headsIn(await textOf(file)))
        heads.set(JSON.stringify({ ...head, seq: `${head.seq}` }), head);
    } catch {
      onFault(`the exported heads of ${day} cannot be read`);
    }
  }
  const all = [...heads.values()];
  for (let from = 0; from < all.length; from += headsAtOnce) {
    const faults = await deps.anchors.check(all.slice(from, from + headsAtOnce));
    for (const fault of faults) onFault(`exported head ${fault}`);
  }
  const [newest] = found;
  return { days: found.length, heads: all.length, ...(newest === undefined ? {} : { newest }) };
}

async function textOf(file: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of file) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

const headSchema = z.object({
  account: z.string(),
  seq: z.int().positive(),
  hash: z.string(),
  at: z.int(),
  signature: z.string(),
});

function headsIn(text: string): AnchoredHead[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const { seq, at: seenAt, ...head } = headSchema.parse(JSON.parse(line));
    return { ...head, seq: BigInt(seq), at: seenAt * 1000 };
  });
}
