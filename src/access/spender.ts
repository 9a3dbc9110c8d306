import { capsOf } from '../money/caps.ts';
import type { Cap } from '../money/caps.ts';
import type { Caller } from './caller.ts';
import { defined } from '../base/defined.ts';
import type { AskedRequest, ImageRequest } from '../models/request.ts';

/** The dimensions by which the ledger sums spending. */
export interface Spender {
  /** The API key's public id, or that of the first key in its chain of replacements. */
  readonly key: string;
  readonly model: string;
  /** Undefined if the request does not name an end user. */
  readonly endUser?: string;
  /** The spending caps that apply. Undefined means that only the account's balance is a limit. */
  readonly caps?: readonly Cap[];
}

/**
 * @param request - The request as the caller sent it. The planned request lacks fields that its model does not accept.
 */
export function spenderOf(
  { key, caps }: Caller,
  model: string,
  request: AskedRequest | ImageRequest,
): Spender {
  const own = [...capsOf('key', caps?.all), ...capsOf('model', caps?.models.get(model))];
  return { key, model, ...defined({ endUser: endUserOf(request) }), caps: own };
}

export function endUserOf(request: AskedRequest | ImageRequest): string | undefined {
  const name = request.kind === 'video' ? request.safetyIdentifier : request.extra['user'];
  return typeof name === 'string' && name !== '' ? name : undefined;
}
