import { z } from 'zod';
import { parseJson } from '../base/parse-json.ts';
import { dayMs, utcDay } from '../base/times.ts';
import type { AnchoredHead, HeadAnchors } from './anchored-heads.ts';
import { createChunks, type Pace } from './verify-reading.ts';

/**
 * Stores each day's signed heads outside MongoDB. Nobody who can change the ledger should have access to this storage.
 */
export interface HeadsPlace {
  write(day: string, heads: AsyncIterable<Uint8Array>): Promise<void>;
  /** Undefined if the storage is write-only. The function returns undefined if nothing was stored for the day. */
  readonly read?: (day: string) => Promise<AsyncIterable<Uint8Array> | undefined>;
  close(): void;
}

export type OpenHeadsPlace = () => Promise<HeadsPlace | undefined>;

export interface OutsideHeads {
  readonly days: number;
  readonly heads: number;
  readonly notCompared: readonly string[];
  readonly newest?: string;
}

export const daysCompared = 31;
/** No further days are read after this many failures. */
const failuresMax = 3;
const lineMax = 64 * 1024;
const seenMax = 10_000;

interface ExportDeps {
  readonly anchors: Pick<HeadAnchors, 'newest'>;
  readonly openPlace: OpenHeadsPlace;
  readonly now: () => number;
}

export function dailyExport({ anchors, openPlace, now }: ExportDeps): () => Promise<number> {
  let lastDay: string | undefined;
  return async () => {
    const day = utcDay(now());
    const place = day === lastDay ? undefined : await openPlace();
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
  readonly signal?: AbortSignal | undefined;
  readonly pace?: Pace | undefined;
}

/**
 * Compares the ledger with the heads that were stored outside it on the last 31 days. Never loads a whole file. Returns
 * undefined if the storage is write-only.
 */
export async function compareOutside(deps: CompareDeps): Promise<OutsideHeads | undefined> {
  const { place, now } = deps;
  const { read } = place;
  if (read === undefined) return undefined;
  const compared: string[] = [];
  const notCompared: string[] = [];
  const checks = createHeadChecks(deps);
  for (let ago = 0; ago < daysCompared; ago += 1) {
    const day = utcDay(now() - ago * dayMs);
    try {
      // Stop after a few failures, because each failed read may take as long as the storage's timeouts allow.
      const file = notCompared.length < failuresMax ? await openFile(read, day) : 'unread';
      if (file === 'unread') notCompared.push(day);
      else if (file !== undefined) {
        await checks.addFile(day, file);
        compared.push(day);
      }
    } catch (error) {
      if (!(error instanceof UnreadError)) throw error;
      notCompared.push(day);
    }
  }
  const heads = await checks.end();
  const [newest] = compared;
  return { days: compared.length, heads, notCompared, ...(newest === undefined ? {} : { newest }) };
}

/** The exported heads could not be read, which is not a fault of the ledger. */
class UnreadError extends Error {}

async function openFile(
  read: NonNullable<HeadsPlace['read']>,
  day: string,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  try {
    const file = await read(day);
    return file === undefined ? undefined : piecesOf(file);
  } catch (cause) {
    throw new UnreadError('a file of heads cannot be opened', { cause });
  }
}

async function* piecesOf(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* file;
  } catch (cause) {
    throw new UnreadError('a file of heads cannot be read completely', { cause });
  }
}

function createHeadChecks({ anchors, onFault, signal, pace }: CompareDeps) {
  let count = 0;
  // The head of an idle account appears in many files but needs only one check. Once this set is full, some heads are
  // checked again.
  const seen = new Set<string>();
  const chunks = createChunks<AnchoredHead>(async (heads) => {
    signal?.throwIfAborted();
    await pace?.(heads.length);
    for (const fault of await anchors.check(heads)) onFault(`exported head ${fault}`);
  });
  return {
    async addFile(day: string, file: AsyncIterable<Uint8Array>): Promise<void> {
      let isWhole = true;
      for await (const line of fileLines(file)) {
        if (seen.has(line)) continue;
        if (seen.size < seenMax) seen.add(line);
        const head = headIn(line);
        if (head === undefined) {
          if (isWhole) onFault(`the file of exported heads of ${day} has a line without a valid head`);
          isWhole = false;
          continue;
        }
        count += 1;
        await chunks.add(head);
      }
    },
    async end(): Promise<number> {
      await chunks.end();
      return count;
    },
  };
}

/** Skips empty lines and splits lines that are too long to be a head. */
async function* fileLines(file: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of file) {
    const lines = `${rest}${decoder.decode(piece, { stream: true })}`.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > lineMax) {
      lines.push(rest);
      rest = '';
    }
    yield* lines.filter((line) => line !== '');
  }
  if (rest !== '') yield rest;
}

const headSchema = z.object({
  account: z.string(),
  seq: z.int().positive(),
  hash: z.string(),
  at: z.int(),
  signature: z.string(),
});

function headIn(line: string): AnchoredHead | undefined {
  const parsed = headSchema.safeParse(parseJson(line));
  if (!parsed.success) return undefined;
  const { seq, at: seenAt, ...head } = parsed.data;
  return { ...head, seq: BigInt(seq), at: seenAt * 1000 };
}
