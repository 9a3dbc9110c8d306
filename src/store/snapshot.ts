import { following } from '../process/pace.ts';
import type { Pace } from '../process/pace.ts';

/** A small collection as this process last read it: decisions ask memory, never the database. */
export interface Snapshot<Item> {
  /** Reads it once; rejects when MongoDB does not answer. */
  readonly refresh: () => Promise<void>;
  /** Reads every `intervalMs`, less often while the process is idle. A failed read keeps the previous data. */
  readonly start: (pace: Pace) => void;
  readonly stop: () => void;
  readonly find: (id: string) => Item | undefined;
  readonly all: () => Iterable<Item>;
  /** What this process has just decided, until a read that began later. */
  readonly put: (item: Item) => void;
}

export interface SnapshotDeps<Item> {
  readonly list: () => Promise<readonly Item[]>;
  readonly intervalMs: number;
  readonly onError: (error: unknown) => void;
}

const idleMs = 30_000;

export function createSnapshot<Item extends { readonly id: string }>({
  list,
  intervalMs,
  onError,
}: SnapshotDeps<Item>): Snapshot<Item> {
  let known = new Map<string, Item>();
  let readsBegun = 0;
  let lastRead = 0;
  /** With the number of reads that had begun by then: they do not contain it. */
  const decided = new Map<string, { readonly item: Item; readonly after: number }>();

  const refresh = async (): Promise<void> => {
    const read = (readsBegun += 1);
    const items = await list();
    // A read that was overtaken is older than what is known.
    if (read < lastRead) return;
    lastRead = read;
    known = new Map(items.map((item) => [item.id, item]));
    for (const [id, { item, after }] of decided) {
      if (after < read) decided.delete(id);
      else known.set(id, item);
    }
  };

  return {
    refresh,
    ...following({ everyMs: intervalMs, idleMs }, () => refresh().catch(onError)),
    find: (id) => known.get(id),
    all: () => known.values(),
    put(item) {
      known.set(item.id, item);
      decided.set(item.id, { item, after: readsBegun });
    },
  };
}
