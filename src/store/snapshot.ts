/** A small collection as this process last read it: decisions ask memory, never the database. */
export interface Snapshot<Document> {
  /** Reads it once; rejects when MongoDB does not answer. */
  readonly refresh: () => Promise<void>;
  /** Reads it every `intervalMs` until `stop`. A failed read keeps what was read before. */
  readonly start: () => void;
  readonly stop: () => void;
  readonly find: (id: string) => Document | undefined;
  readonly all: () => Iterable<Document>;
  /** What this process has just decided, until the next read. */
  readonly put: (document: Document) => void;
}

export interface SnapshotDeps<Document> {
  readonly list: () => Promise<readonly Document[]>;
  readonly intervalMs: number;
  readonly onError: (error: unknown) => void;
}

export function createSnapshot<Document extends { readonly _id: string }>({
  list,
  intervalMs,
  onError,
}: SnapshotDeps<Document>): Snapshot<Document> {
  let known = new Map<string, Document>();
  let timer: NodeJS.Timeout | undefined;
  const refresh = async (): Promise<void> => {
    known = new Map((await list()).map((document) => [document._id, document]));
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
    put: (document) => void known.set(document._id, document),
  };
}
