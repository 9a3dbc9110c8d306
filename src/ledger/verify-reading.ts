import { setTimeout as sleep } from 'node:timers/promises';
import type { AbstractCursor } from 'mongodb';

const chunkSize = 500;
const batchSize = 1_000;

export type Pace = (count: number) => Promise<void>;

export function createPace(perSecond: number, signal?: AbortSignal): Pace {
  let freeAt = 0;
  return async (count) => {
    const at = performance.now();
    freeAt = Math.max(freeAt, at) + (count * 1000) / perSecond;
    await sleep(freeAt - at, undefined, { signal });
  };
}

/** Fetches the next batch while the previous one is processed. Throws when the signal aborts. */
export async function* each<Item>(
  found: AbstractCursor<Item>,
  { signal, pace }: { readonly signal?: AbortSignal | undefined; readonly pace?: Pace | undefined },
): AsyncIterable<Item> {
  const cursor = found.batchSize(batchSize);
  const fetch = (): Promise<boolean> => {
    const more = cursor.hasNext();
    // This promise may never be awaited, so prevent an unhandled rejection.
    more.catch(() => undefined);
    return more;
  };
  try {
    for (let more = fetch(); await more;) {
      signal?.throwIfAborted();
      const batch = cursor.readBufferedDocuments();
      await pace?.(batch.length);
      more = fetch();
      yield* batch;
    }
  } finally {
    await cursor.close();
  }
}

/** Passes items on in chunks. The next chunk fills up while the previous one is processed. */
export function createChunks<Item>(flush: (chunk: Item[]) => Promise<void>) {
  let chunk: Item[] = [];
  let atWork: Promise<void> = Promise.resolve();

  async function pass(): Promise<void> {
    const before = atWork;
    const full = chunk;
    chunk = [];
    atWork = before.then(() => (full.length === 0 ? undefined : flush(full)));
    atWork.catch(() => undefined);
    await before;
  }

  return {
    async add(item: Item): Promise<void> {
      chunk.push(item);
      if (chunk.length >= chunkSize) await pass();
    },
    async end(): Promise<void> {
      await pass();
      await atWork;
    },
  };
}

export async function eachOfSome<Item>(
  items: AsyncIterable<Item>,
  atOnce: number,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.asyncIterator]();
  const work = async (): Promise<void> => {
    for (let next = await left.next(); next.done !== true; next = await left.next()) await run(next.value);
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
  } finally {
    await left.return?.();
  }
}
