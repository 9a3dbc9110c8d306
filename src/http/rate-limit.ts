import type { ParameterizedContext } from 'koa';
import { createPlaces } from '../base/places.ts';
import type { Caller } from '../access/caller.ts';
import { GatewayError } from '../errors/errors.ts';
import type { AppDeps } from './deps.ts';

const windowMs = 60_000;

type RateLimit = (caller: Caller, context: ParameterizedContext) => Promise<void>;

/**
 * Limits apply per calendar minute. If a key has a limit of its own, MongoDB counts the requests of all processes. For
 * all other keys, each process counts separately in memory, up to `fallback` (0 means no limit).
 */
export function createRateLimit(
  { rateLimits, now }: Pick<AppDeps, 'rateLimits' | 'now'>,
  fallback: number,
): RateLimit {
  const count = createLocalCounter();
  return async ({ key, requestsPerMinute }, context) => {
    const limit = requestsPerMinute ?? fallback;
    if (limit === 0) return;
    const at = now();
    const startedAt = at - (at % windowMs);
    const used =
      requestsPerMinute === undefined ? count(key, startedAt) : await rateLimits.count(key, startedAt);
    const resetSeconds = Math.ceil((startedAt + windowMs - at) / 1000);
    context.set({
      'x-ratelimit-limit-requests': String(limit),
      'x-ratelimit-remaining-requests': String(Math.max(limit - used, 0)),
      'x-ratelimit-reset-requests': `${resetSeconds}s`,
    });
    if (used <= limit) return;
    throw new GatewayError(
      'rate_limit_exceeded',
      `This API key is limited to ${limit} requests per minute.`,
      {
        retryAfterSeconds: resetSeconds,
      },
    );
  };
}

const retrySeconds = 1;

/**
 * Limits how many requests of a key this process serves at once. A `max` of 0 means no limit. The returned function
 * counts a request of the key, or throws rate_limit_exceeded. It returns a function that you must call when the request
 * has finished.
 */
export function createEnterKey(max: number): (key: string) => () => void {
  const shareMax = max === 0 ? Infinity : max;
  const places = createPlaces({ name: 'requests of a key', placesMax: Infinity, shareMax });
  return (key) => {
    const place = places.take(key);
    if (typeof place !== 'string') return () => place.leave();
    throw new GatewayError('rate_limit_exceeded', `This API key is limited to ${max} concurrent requests.`, {
      retryAfterSeconds: retrySeconds,
    });
  };
}

/** Call this only with keys that exist, because every key occupies memory. */
function createLocalCounter(): (key: string, startedAt: number) => number {
  let counts = new Map<string, number>();
  let minute = 0;
  return (key, startedAt) => {
    if (startedAt !== minute) {
      counts = new Map();
      minute = startedAt;
    }
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count;
  };
}

/** The reset time is only a suggestion, because nobody knows when a task will finish. */
export function concurrencyHeaders(caller: Caller, error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof GatewayError) || error.code !== 'concurrency_limit_exceeded') return {};
  return {
    'x-ratelimit-limit-requests': String(caller.concurrentTasks ?? 0),
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': `${error.retryAfterSeconds ?? 0}s`,
  };
}
