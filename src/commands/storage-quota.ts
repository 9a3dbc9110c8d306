import { GatewayError } from '../errors/errors.ts';
import { createRecent } from '../process/recent.ts';
import { createRounds } from '../process/rounds.ts';
import { dayOf, endOfDay } from '../store/stored-bytes.ts';
import type { StoredBytesStore } from '../store/stored-bytes.ts';
import { utcDay } from '../base/times.ts';

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
  const known = createRecent<Days>({ max: cachedAccountsMax, ttlMs: cacheTtlMs, now });
  /** What was noted and is not yet in the database. */
  let unwritten = new Map<string, Days>();

  function add(account: string, day: number, bytes: number): void {
    const days = unwritten.get(account) ?? new Map<number, number>();
    unwritten.set(account, days);
    addTo(days, day, bytes);
  }

  async function read(account: string): Promise<Days> {
    const days = new Map(await store.find(account));
    for (const [day, bytes] of unwritten.get(account) ?? []) addTo(days, day, bytes);
    known.set(account, days);
    return days;
  }

  /** What cannot be written is kept. */
  async function write(): Promise<void> {
    const sums = [...unwritten].flatMap(([account, days]) =>
      [...days].map(([day, bytes]) => [account, day, bytes] as const),
    );
    unwritten = new Map();
    let written = 0;
    try {
      for (const sum of sums) {
        await store.add(...sum);
        written += 1;
      }
    } finally {
      for (const sum of sums.slice(written)) add(...sum);
    }
  }

  const { run: flush, start, stop } = createRounds({ everyMs: flushIntervalMs, work: write, onError });
  return {
    async check(account) {
      if (bytesMax === 0) return;
      const days = known.get(account) ?? (await read(account));
      const today = dayOf(now());
      const current = new Map([...days].filter(([day]) => day >= today));
      const bytes = [...current.values()].reduce((sum, more) => sum + more, 0);
      if (bytes >= bytesMax) throw quotaExceeded(bytes, bytesMax, current);
    },

    note(account, bytes, expiresAt) {
      const day = dayOf(expiresAt);
      add(account, day, bytes);
      const days = known.get(account);
      if (days !== undefined) addTo(days, day, bytes);
    },

    flush,
    start,
    stop: () => stop().then(flush),
  };
}

function addTo(days: Days, day: number, bytes: number): void {
  days.set(day, (days.get(day) ?? 0) + bytes);
}

function quotaExceeded(bytes: number, bytesMax: number, days: Days): GatewayError {
  const next = utcDay(endOfDay(Math.min(...days.keys())));
  return new GatewayError(
    'storage_quota_exceeded',
    `${bytes} bytes of this account's requests are stored, and the limit is ${bytesMax}. A request is deleted 30 days after its task's deadline: the next ones on ${next}. Send media as URLs, and ask the operator for a higher limit.`,
  );
}
