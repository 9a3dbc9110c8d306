import { LRUCache } from 'lru-cache';
import { GatewayError } from '../domain/errors.ts';
import { dayOf, endOfDay } from '../store/stored-bytes.ts';
import type { StoredBytesStore } from '../store/stored-bytes.ts';
import { utcDay } from '../domain/times.ts';

/** How much an account may have stored with us in requests. */
export interface StorageQuota {
  /** Throws `storage_quota_exceeded`. Reads once in ten seconds per account, and otherwise only memory. */
  check(account: string): Promise<void>;
  /** Counts what was stored; `expiresAt`, in Unix milliseconds, is when it is deleted. */
  note(account: string, bytes: number, expiresAt: number): void;
  /** Writes what was noted, for the other processes; every five seconds after `start`. Never rejects. */
  flush(): Promise<void>;
  start(): void;
  /** Writes the rest. */
  stop(): Promise<void>;
}

export interface StorageQuotaDeps {
  readonly store: Pick<StoredBytesStore, 'add' | 'find'>;
  /** Of one account; 0: no limit. */
  readonly bytesMax: number;
  /** Some sums could not be written; that is retried. */
  readonly onError: (error: unknown) => void;
  readonly now: () => number;
}

const cacheTtlMs = 10_000;
const cachedAccountsMax = 10_000;
const flushIntervalMs = 5_000;

type Days = Map<number, number>;

/**
 * Sums by account and day of deletion, so that nothing has to be subtracted and no request is read. A process knows at
 * once what it has stored itself, and after fifteen seconds what the others have: by so much of its own speed an account
 * can pass the limit. What a process that is killed has not written yet is never counted.
 */
export function createStorageQuota({ store, bytesMax, onError, now }: StorageQuotaDeps): StorageQuota {
  const known = new LRUCache<string, Days>({
    max: cachedAccountsMax,
    ttl: cacheTtlMs,
    ttlResolution: 0,
    perf: { now },
  });
  const unwritten = createUnwritten({ store, onError });
  let timer: NodeJS.Timeout | undefined;

  async function read(account: string): Promise<Days> {
    const days = new Map(await store.find(account));
    for (const [day, bytes] of unwritten.of(account)) addTo(days, day, bytes);
    known.set(account, days);
    return days;
  }

  return {
    async check(account) {
      if (bytesMax === 0) return;
      const days = known.get(account) ?? (await read(account));
      const today = dayOf(now());
      const current = [...days].filter(([day]) => day >= today);
      const bytes = current.reduce((sum, [, more]) => sum + more, 0);
      if (bytes >= bytesMax) throw quotaExceeded({ bytes, bytesMax, days: current.map(([day]) => day) });
    },

    note(account, bytes, expiresAt) {
      const day = dayOf(expiresAt);
      unwritten.add({ account, day, bytes });
      const days = known.get(account);
      if (days !== undefined) addTo(days, day, bytes);
    },

    flush: () => unwritten.flush(),
    start() {
      timer ??= setInterval(() => void unwritten.flush(), flushIntervalMs).unref();
    },
    async stop() {
      clearInterval(timer);
      timer = undefined;
      await unwritten.flush();
    },
  };
}

interface Sum {
  readonly account: string;
  readonly day: number;
  readonly bytes: number;
}

/** What was noted and is not yet in the database. */
function createUnwritten({ store, onError }: Pick<StorageQuotaDeps, 'store' | 'onError'>) {
  let accounts = new Map<string, Days>();

  function add({ account, day, bytes }: Sum): void {
    const days = accounts.get(account) ?? new Map<number, number>();
    accounts.set(account, days);
    addTo(days, day, bytes);
  }

  return {
    add,
    of: (account: string): Iterable<[number, number]> => accounts.get(account) ?? [],

    /** What cannot be written is kept. */
    async flush(): Promise<void> {
      const sums = [...accounts].flatMap(([account, days]) =>
        [...days].map(([day, bytes]) => ({ account, day, bytes })),
      );
      accounts = new Map();
      let written = 0;
      try {
        for (const { account, day, bytes } of sums) {
          await store.add(account, day, bytes);
          written += 1;
        }
      } catch (error) {
        onError(error);
        sums.slice(written).forEach(add);
      }
    },
  };
}

function addTo(days: Days, day: number, bytes: number): void {
  days.set(day, (days.get(day) ?? 0) + bytes);
}

interface Exceeded {
  readonly bytes: number;
  readonly bytesMax: number;
  readonly days: readonly number[];
}

function quotaExceeded({ bytes, bytesMax, days }: Exceeded): GatewayError {
  const next = utcDay(endOfDay(Math.min(...days)));
  return new GatewayError(
    'storage_quota_exceeded',
    `${bytes} bytes of this account's requests are stored, and the limit is ${bytesMax}. A request is deleted 30 days after its task's deadline: the next ones on ${next}. Send media as URLs, and ask the operator for a higher limit.`,
  );
}
