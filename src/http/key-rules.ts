import { endUserOf } from '../access/spender.ts';
import type { Caller } from '../access/caller.ts';
import { GatewayError } from '../errors/errors.ts';
import type { Understood } from '../intake/understand.ts';
import { refuseUnread } from '../intake/warnings.ts';
import type { AskedRequest, ImageRequest } from '../models/request.ts';

export interface RuledRequest {
  readonly request: AskedRequest | ImageRequest;
  readonly ignored: readonly string[];
}

/**
 * Checks the request against the rules of its API key. Throws GatewayError with the field names that the caller sent.
 * @returns `strict` if the request must be rejected when a field has no effect, as the request or its key demands.
 */
export function applyKeyRules(
  { request, ignored }: RuledRequest,
  { strict, nameOf }: Pick<Understood, 'strict' | 'nameOf'>,
  caller: Pick<Caller, 'strict' | 'endUserRequired'>,
): { readonly strict?: true } {
  const isStrict = strict || caller.strict === true;
  if (isStrict) refuseUnread(ignored);
  if (caller.endUserRequired === true && endUserOf(request) === undefined) {
    const param = nameOf(request.kind === 'video' ? 'metadata.safety_identifier' : 'user');
    throw new GatewayError(
      'missing_parameter',
      `This API key requires the parameter ${param}, the name of your end user.`,
      { param },
    );
  }
  return isStrict ? { strict: true } : {};
}
