import type { IncomingMessage } from 'node:http';
import type { ParameterizedContext } from 'koa';
import { defined } from '../base/defined.ts';
import type { ClientTry } from '../commands/repeats.ts';
import { mayBeRetried } from './error-response.ts';
import type { RequestState } from './request-scope.ts';

/** The header in which official clients count their retries. */
const retryCountHeader = 'x-stainless-retry-count';

export function sentBy({ headers }: IncomingMessage): Pick<ClientTry, 'retries' | 'bodyBytes'> {
  const count = headers[retryCountHeader];
  const retries = typeof count === 'string' && /^\d{1,3}$/.test(count) ? Number(count) : undefined;
  return { bodyBytes: headers['content-length'] ?? '', ...defined({ retries }) };
}

/**
 * Whether a client that counts its retries will repeat this request, and nothing was begun for it. It is noted, so that
 * its retry is not taken for one of an equal request that was answered.
 */
export function isRefusedTry(
  { method, req, state }: ParameterizedContext<RequestState>,
  error: unknown,
): boolean {
  const isUncounted = sentBy(req).retries === undefined;
  return method === 'POST' && !isUncounted && state.isTry !== true && mayBeRetried(error);
}
