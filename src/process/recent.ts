import { LRUCache } from 'lru-cache';

export interface RecentOptions {
  /** How many are remembered at most. */
  readonly max: number;
  /** How long each is remembered: as long as others may act on what was true before. */
  readonly ttlMs: number;
  readonly now: () => number;
}

/** What this process has read lately, by its name. Forgotten on time by the given clock. */
export function createRecent<Value extends object>({
  max,
  ttlMs,
  now,
}: RecentOptions): LRUCache<string, Value> {
  return new LRUCache<string, Value>({ max, ttl: ttlMs, ttlResolution: 0, perf: { now } });
}
