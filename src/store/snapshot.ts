import { following, type Pace, type Period } from '../process/pace.ts';

export interface Snapshot<Item> {
  readonly refresh: () => Promise<void>;
  /** If a read fails, the previous data is kept. */
  readonly start: (pace: Pace) => void;
  readonly stop: () => void;
  readonly find: (id: string) => Item | undefined;
  readonly all: () => Iterable<Item>;
  /**
   * Adds an item that this process has just written. The item is kept until the result of a read that started later
   * arrives.
   */
  readonly put: (item: Item) => void;
}

export interface SnapshotDeps<Item> {
  readonly list: () => Promise<readonly Item[]>;
  readonly period: Period;
  readonly onError: (error: unknown) => void;
}

export function createSnapshot<Item extends { readonly id: string }>({
  list,
  period,
  onError,
}: SnapshotDeps<Item>): Snapshot<Item> {
  let known = new Map<string, Item>();
  let readsBegun = 0;
  let lastRead = 0;
  /**
   * Items that this process has written. `after` is the number of reads that had already started and may therefore lack
   * the item.
   */
  const decided = new Map<string, { readonly item: Item; readonly after: number }>();

  const refresh = async (): Promise<void> => {
    const read = (readsBegun += 1);
    const items = await list();
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
    ...following(period, () => refresh().catch(onError)),
    find: (id) => known.get(id),
    all: () => known.values(),
    put(item) {
      known.set(item.id, item);
      decided.set(item.id, { item, after: readsBegun });
    },
  };
}
