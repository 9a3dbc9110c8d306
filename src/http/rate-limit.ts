import type { ParameterizedContext } from 'koa';
import type { Caller } from '../domain/caller.ts';
import { GatewayError } from '../domain/errors.ts';
import type { AppDeps } from './deps.ts';

const windowMs = 60_000;

type RateLimit = (caller: Caller, context: ParameterizedContext) => Promise<void>;

/**
 * Requests a minute of one key, in fixed minutes, counted in MongoDB by all processes together. Only keys that have a
 * limit come here. Every answer carries the three headers; the one beyond the limit is a 429.
 */
export function createRateLimit({ rateLimits, now }: Pick<AppDeps, 'rateLimits' | 'now'>): RateLimit {
  return async ({ key, requestsPerMinute: limit }, context) => {
    if (limit === undefined) return;
    const at = now();
    const startedAt = at - (at % windowMs);
    const used = await rateLimits.count(key, startedAt);
    const resetSeconds = Math.ceil((startedAt + windowMs - at) / 1000);
    context.set({
      'x-ratelimit-limit-requests': String(limit),
      'x-ratelimit-remaining-requests': String(Math.max(limit - used, 0)),
      'x-ratelimit-reset-requests': `${resetSeconds}s`,
    });
    if (used <= limit) return;
    throw new GatewayError('rate_limit_exceeded', `This API key may make ${limit} requests a minute.`, {
      retryAfterSeconds: resetSeconds,
    });
  };
}

/** A 429 carries the same three headers when the limit is on unfinished tasks; nobody knows when one will end. */
export function concurrencyHeaders(caller: Caller, error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof GatewayError) || error.code !== 'concurrency_limit_exceeded') return {};
  return {
    'x-ratelimit-limit-requests': String(caller.concurrentTasks ?? 0),
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': `${error.retryAfterSeconds ?? 0}s`,
  };
}
