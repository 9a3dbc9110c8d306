import { GatewayError } from '../errors/errors.ts';

export interface AddressChecks {
  /** Returns why the gateway must not call this URL, as a sentence. Does no I/O. */
  readonly checkCallbackUrl: (url: string) => string | undefined;
  readonly checkMediaUrl: (url: string) => string | undefined;
}

export function checkCallback(
  url: string | undefined,
  { checkCallbackUrl }: Pick<AddressChecks, 'checkCallbackUrl'>,
  param = 'metadata.callback_url',
): void {
  const reason = url === undefined ? undefined : checkCallbackUrl(url);
  if (reason === undefined) return;
  throw new GatewayError('callback_url_not_allowed', `The callback URL is not allowed. ${reason}`, {
    param,
  });
}

/** The error message for a medium that is neither a web address nor in another form that its route accepts. */
export const notAWebAddress = 'Media must be given as http or https URLs.';

export function mediaUrlNotAllowed(param: string, reason: string): GatewayError {
  return new GatewayError('media_url_not_allowed', `The URL in ${param} is not allowed. ${reason}`, {
    param,
  });
}
