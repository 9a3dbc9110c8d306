import { LRUCache } from 'lru-cache';

export interface RecentOptions {
  /** The maximum number of cached values. */
  readonly max: number;
  /** How long each value is cached, and therefore how outdated it may be, in milliseconds. */
  readonly ttlMs: number;
  readonly now: () => number;
}

/** Caches what this process has read recently, by name. Values expire by the given clock. */
export function createRecent<Value extends object>({
  max,
  ttlMs,
  now,
}: RecentOptions): LRUCache<string, Value> {
  return new LRUCache<string, Value>({ max, ttl: ttlMs, ttlResolution: 0, perf: { now } });
}
