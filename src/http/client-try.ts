import type { IncomingMessage } from 'node:http';
import type { ParameterizedContext } from 'koa';
import { defined } from '../base/defined.ts';
import type { ClientTry } from '../commands/repeats.ts';
import { mayBeRepeated } from '../errors/errors.ts';
import { translateError } from './error-response.ts';
import type { RequestState } from './request-scope.ts';

/** The header in which official clients count their retries. */
const retryCountHeader = 'x-stainless-retry-count';

export function sentBy({ headers }: IncomingMessage): Pick<ClientTry, 'retries' | 'bodyBytes'> {
  const count = headers[retryCountHeader];
  const retries = typeof count === 'string' && /^\d{1,3}$/.test(count) ? Number(count) : undefined;
  return { bodyBytes: headers['content-length'] ?? '', ...defined({ retries }) };
}

/**
 * The `content-length` of a request that its client will repeat although nothing was begun for it. It is noted, so that
 * the retry is not taken for one of an equal request that was answered.
 */
export function refusedBytes(
  { method, req, state }: ParameterizedContext<RequestState>,
  error: unknown,
): string | undefined {
  const { retries, bodyBytes } = sentBy(req);
  if (method !== 'POST' || retries === undefined || state.isTry === true) return undefined;
  return mayBeRepeated(translateError(error)) ? bodyBytes : undefined;
}
