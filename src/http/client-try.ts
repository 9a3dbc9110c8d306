import type { IncomingMessage } from 'node:http';
import type { ParameterizedContext } from 'koa';
import { defined } from '../base/defined.ts';
import type { ClientTry } from '../commands/repeats.ts';
import { mayBeRepeated } from '../errors/errors.ts';
import { translateError } from './error-response.ts';
import type { RequestState } from './request-scope.ts';

const retryCountHeader = 'x-stainless-retry-count';

export function sentBy({ headers, url = '' }: IncomingMessage): Omit<ClientTry, 'whenLost'> {
  const count = headers[retryCountHeader];
  const retries = typeof count === 'string' && /^\d{1,3}$/.test(count) ? Number(count) : undefined;
  return { target: url, bodyBytes: headers['content-length'] ?? '', ...defined({ retries }) };
}

/**
 * Describes a request that was rejected before processing began and that its client will repeat. Otherwise, the repeat
 * could be mistaken for a retry of an identical request that got a response. The body's content is not included.
 */
export function refusedTry(
  { method, req, state }: ParameterizedContext<RequestState>,
  error: unknown,
): Pick<ClientTry, 'target' | 'bodyBytes'> | undefined {
  const { retries, target, bodyBytes } = sentBy(req);
  if (method !== 'POST' || retries === undefined || state.isTry === true) return undefined;
  return mayBeRepeated(translateError(error)) ? { target, bodyBytes } : undefined;
}
