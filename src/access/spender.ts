import { capsOf } from '../money/caps.ts';
import type { Cap } from '../money/caps.ts';
import type { Caller } from './caller.ts';
import { defined } from '../base/defined.ts';
import type { AskedRequest, ImageRequest } from '../models/request.ts';

/** Who spends: what the ledger adds up by. */
export interface Spender {
  /** Public id of the API key; of one that replaced another, the first one's. */
  readonly key: string;
  readonly model: string;
  /** `safety_identifier` as sent, or `user` of an image. Absent: the request names none. */
  readonly endUser?: string;
  /** What it may spend; absent: as much as the account. */
  readonly caps?: readonly Cap[];
}

/** @param request - As asked: what its model does not take is missing from the planned one. */
export function spenderOf(
  { key, caps }: Caller,
  model: string,
  request: AskedRequest | ImageRequest,
): Spender {
  const own = [...capsOf('key', caps?.all), ...capsOf('model', caps?.models.get(model))];
  return { key, model, ...defined({ endUser: endUserOf(request) }), caps: own };
}

export function endUserOf(request: AskedRequest | ImageRequest): string | undefined {
  const names =
    request.kind === 'video'
      ? [request.safetyIdentifier]
      : [request.extra['safety_identifier'], request.extra['user']];
  return names.find((name): name is string => typeof name === 'string' && name !== '');
}
