import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';

/**
 * When this many items are in memory, they are written to disk as a sorted run. Merging keeps a chunk of each run in
 * memory.
 */
const runItemsMax = 20_000;
const writtenAtOnce = 500;

export interface DiskSorter<Item> {
  add(item: Item): Promise<void>;
  /** Ordered by `keyOf` (JavaScript string order). Items with equal keys come in any order. */
  sorted(): AsyncIterable<Item>;
}

interface Sorting<Item> {
  readonly directory: string;
  readonly name: string;
  readonly schema: z.ZodType<Item>;
  readonly keyOf: (item: Item) => string;
  readonly runMax?: number;
}

interface Keyed<Item> {
  readonly key: string;
  readonly item: Item;
}

/** Sorts any number of items in limited memory, by writing sorted runs to disk and merging them. */
export function createDiskSorter<Item>(sorting: Sorting<Item>): DiskSorter<Item> {
  const { directory, name, schema, keyOf, runMax = runItemsMax } = sorting;
  const keyed = (item: Item): Keyed<Item> => ({ key: keyOf(item), item });
  const runs: string[] = [];
  let items: Keyed<Item>[] = [];

  async function* readRun(file: string): AsyncGenerator<Keyed<Item>> {
    for await (const line of linesOf(file)) yield keyed(schema.parse(JSON.parse(line)));
  }

  return {
    async add(item) {
      items.push(keyed(item));
      if (items.length < runMax) return;
      const file = join(directory, `${name}-${runs.length}`);
      await writeFile(file, jsonLines(items.toSorted(byKey)), { mode: 0o600, flag: 'wx' });
      runs.push(file);
      items = [];
    },
    sorted: () => merge([...runs.map(readRun), each(items.toSorted(byKey))]),
  };
}

function byKey(one: Keyed<unknown>, other: Keyed<unknown>): number {
  return one.key < other.key ? -1 : one.key > other.key ? 1 : 0;
}

function* jsonLines(items: readonly Keyed<unknown>[]): Generator<string> {
  for (let from = 0; from < items.length; from += writtenAtOnce) {
    const some = items.slice(from, from + writtenAtOnce);
    yield some.map(({ item }) => `${JSON.stringify(item)}\n`).join('');
  }
}

/** Splitting on `\n` is safe, because the files contain JSON, which escapes line breaks within strings. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(file, 'utf8')) {
    const lines = `${rest}${String(chunk)}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

async function* merge<Item>(runs: readonly AsyncGenerator<Keyed<Item>>[]): AsyncGenerator<Item> {
  const heads: { next: Keyed<Item>; run: AsyncGenerator<Keyed<Item>> }[] = [];
  for (const run of runs) {
    const first = await run.next();
    if (first.done !== true) heads.push({ next: first.value, run });
  }
  while (heads.length > 0) {
    const head = heads.reduce((least, one) => (byKey(one.next, least.next) < 0 ? one : least));
    yield head.next.item;
    const following = await head.run.next();
    if (following.done === true) heads.splice(heads.indexOf(head), 1);
    else head.next = following.value;
  }
}
