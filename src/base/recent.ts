import { LRUCache } from 'lru-cache';

export type Recent<Value extends object | number | true> = LRUCache<string, Value>;

export interface Expiry {
  /** How long a value is kept, which is also how outdated it may be. */
  readonly ttlMs: number;
  readonly now: () => number;
}

/**
 * Returns a cache of the `max` most recently used values. Its memory grows with the number of values. An LRUCache with
 * a plain `max` would allocate memory for all of them up front, which is a megabyte for 50,000 values.
 */
export function createRecent<Value extends object | number | true>(
  max: number,
  expiry?: Expiry,
): Recent<Value> {
  const limit = { maxSize: max, sizeCalculation: () => 1 };
  if (expiry === undefined) return new LRUCache<string, Value>(limit);
  const { ttlMs: ttl, now } = expiry;
  return new LRUCache<string, Value>({ ...limit, ttl, ttlResolution: 0, perf: { now } });
}
