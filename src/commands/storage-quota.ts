import { periods } from '../base/periods.ts';
import { walk } from '../base/walk.ts';
import { GatewayError } from '../errors/errors.ts';
import { createRecent } from '../base/recent.ts';
import { createRounds } from '../process/rounds.ts';
import { isOutage } from '../store/mongo.ts';
import { dayOf, endOfDay, type StoredBytesStore } from '../store/stored-bytes.ts';
import { utcDay } from '../base/times.ts';

export interface StorageQuota {
  /**
   * Throws `storage_quota_exceeded` if the account has used up its storage. Reads each account from the database at
   * most every ten seconds.
   */
  check(account: string): Promise<void>;
  /** `expiresAt` is the time of deletion, in Unix milliseconds. */
  note(account: string, bytes: number, expiresAt: number): void;
  /** Writes the counts to the database, where other processes read them. Never rejects. */
  flush(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

export interface StorageQuotaDeps {
  readonly store: Pick<StoredBytesStore, 'add' | 'find'>;
  /** Per account. 0 means no limit. */
  readonly bytesMax: number;
  readonly onError: (error: unknown) => void;
  readonly now: () => number;
}

const cacheTtlMs = 10_000;
const cachedAccountsMax = 10_000;

type Days = Map<number, number>;

/**
 * Counts bytes by account and day of deletion, so nothing ever has to be subtracted. A process sees the bytes of others
 * with a delay of up to fifteen seconds, so an account can exceed its limit for that long. If a process is killed, the
 * bytes that it has not yet written are never counted.
 */
export function createStorageQuota({ store, bytesMax, onError, now }: StorageQuotaDeps): StorageQuota {
  const known = createRecent<Days>(cachedAccountsMax, { ttlMs: cacheTtlMs, now });
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

  /**
   * Keeps counts that could not be written. Stops at the first failure, because in an outage every further write would
   * also time out.
   */
  async function write(): Promise<void> {
    const sums = [...unwritten].flatMap(([account, days]) =>
      [...days].map(([day, bytes]) => [account, day, bytes] as const),
    );
    unwritten = new Map();
    const left = new Set(sums);
    let isAway = false;
    await walk(sums, {
      loop: 'stored bytes',
      run: async (sum) => {
        await store.add(...sum);
        return left.delete(sum);
      },
      isOver: () => isAway,
      onFailed(_, error) {
        isAway = isOutage(error);
        onError(error);
      },
    });
    for (const sum of left) add(...sum);
  }

  const { run: flush, start, stop } = createRounds({ ...periods.storedBytes, work: write, onError });
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
    `This account's stored requests use ${bytes} bytes, and the limit is ${bytesMax}. A request is deleted 30 days after its task's deadline; the next deletion is on ${next}. Send media as URLs, or ask the operator for a higher limit.`,
  );
}
