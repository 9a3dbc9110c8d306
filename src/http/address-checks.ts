import { GatewayError } from '../errors/errors.ts';

/** What the gateway may be asked to call or fetch, as the bodies of creates name it. */
export interface AddressChecks {
  /** Why the gateway must not call this address, as a sentence; undefined: it may. Reads nothing but the URL. */
  readonly checkCallbackUrl: (url: string) => string | undefined;
  readonly checkMediaUrl: (url: string) => string | undefined;
}

/** Throws GatewayError when the address, by default that of `metadata.callback_url`, must not be called. */
export function checkCallback(
  url: string | undefined,
  { checkCallbackUrl }: Pick<AddressChecks, 'checkCallbackUrl'>,
  param = 'metadata.callback_url',
): void {
  const reason = url === undefined ? undefined : checkCallbackUrl(url);
  if (reason === undefined) return;
  throw new GatewayError('callback_url_not_allowed', `The callback address is not allowed. ${reason}`, {
    param,
  });
}

export function mediaUrlNotAllowed(param: string, reason: string): GatewayError {
  return new GatewayError('media_url_not_allowed', `The address in ${param} is not allowed. ${reason}`, {
    param,
  });
}
