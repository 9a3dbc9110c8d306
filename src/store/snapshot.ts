/** A small collection as this process last read it: decisions ask memory, never the database. */
export interface Snapshot<Item> {
  /** Reads it once; rejects when MongoDB does not answer. */
  readonly refresh: () => Promise<void>;
  /** Reads it every `intervalMs` until `stop`. A failed read keeps what was read before. */
  readonly start: () => void;
  readonly stop: () => void;
  readonly find: (id: string) => Item | undefined;
  readonly all: () => Iterable<Item>;
  /** What this process has just decided, until the next read. */
  readonly put: (item: Item) => void;
}

export interface SnapshotDeps<Item> {
  readonly list: () => Promise<readonly Item[]>;
  readonly intervalMs: number;
  readonly onError: (error: unknown) => void;
}

export function createSnapshot<Item extends { readonly id: string }>({
  list,
  intervalMs,
  onError,
}: SnapshotDeps<Item>): Snapshot<Item> {
  let known = new Map<string, Item>();
  let timer: NodeJS.Timeout | undefined;
  const refresh = async (): Promise<void> => {
    known = new Map((await list()).map((item) => [item.id, item]));
  };
  return {
    refresh,
    start() {
      timer ??= setInterval(() => void refresh().catch(onError), intervalMs).unref();
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
    find: (id) => known.get(id),
    all: () => known.values(),
    put: (item) => void known.set(item.id, item),
  };
}
