import { capsOf, type Cap } from '../money/caps.ts';
import type { Caller } from './caller.ts';
import { defined } from '../base/defined.ts';
import type { AskedRequest, ImageRequest } from '../models/request.ts';

export interface Spender {
  readonly key: string;
  readonly model: string;
  readonly endUser?: string;
  readonly caps?: readonly Cap[];
}

/** @param request - The request as the caller sent it, because planning drops fields that the model does not accept. */
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
