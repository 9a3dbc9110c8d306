import { LRUCache } from 'lru-cache';

export type Recent<Value extends object | number | true> = LRUCache<string, Value>;

export interface Expiry {
  /** How long a value is kept, and therefore how outdated it may be. */
  readonly ttlMs: number;
  readonly now: () => number;
}

/**
 * Keeps the `max` most recently used values. An LRUCache with a plain `max` would allocate memory for all of them in
 * advance, which is a megabyte for 50,000 values.
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
