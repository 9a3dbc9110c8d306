import { createHmac } from 'node:crypto';
import { UpstreamError, type ProviderContext } from '../provider.ts';
import type { Authentication } from '../../models/vendor-file.ts';
import { bearer } from '../shared/http-outcome.ts';
import { jsonWebToken } from '../shared/json-web-token.ts';

export interface Unsigned {
  readonly method: string;
  readonly url: URL;
  readonly body: string | undefined;
}

export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

export function credentialsOf(
  authentication: Authentication,
  { unsigned, context, now }: { unsigned: Unsigned; context: ProviderContext; now: number },
): Credentials {
  const { apiKey } = context.credential;
  if ('bearer' in authentication || 'header' in authentication)
    return { headers: plainHeaders(authentication, context), query: {} };
  if ('query' in authentication) return { headers: {}, query: { [authentication.query]: apiKey } };
  if ('hmac' in authentication)
    return { headers: signature(authentication.hmac, unsigned, { apiKey, now }), query: {} };
  return { headers: { authorization: `Bearer ${token(authentication.jwt, apiKey, now)}` }, query: {} };
}

type Plain = Extract<Authentication, { bearer: unknown } | { header: unknown }>;

function plainHeaders(authentication: Plain, context: ProviderContext): Readonly<Record<string, string>> {
  return 'bearer' in authentication
    ? bearer(context)
    : { [authentication.header]: authentication.prefix + context.credential.apiKey };
}

/** The headers contain the key, which only the vendor's own host may receive. */
export function keyHeaders(
  authentication: Authentication,
  url: string,
  context: ProviderContext,
): Readonly<Record<string, string>> {
  const isOwn = new URL(url).origin === new URL(context.baseUrl).origin;
  const isPlain = 'bearer' in authentication || 'header' in authentication;
  return isOwn && isPlain ? plainHeaders(authentication, context) : {};
}

type Hmac = Extract<Authentication, { hmac: unknown }>['hmac'];
type Jwt = Extract<Authentication, { jwt: unknown }>['jwt'];

function signature(
  { hash, encoding, over, separator, header, prefix, ...names }: Hmac,
  { method, url, body }: Unsigned,
  { apiKey, now }: { readonly apiKey: string; readonly now: number },
): Record<string, string> {
  const { id, secret } = pairOf(apiKey);
  const timestamp = String(Math.floor(now / 1000));
  const parts = {
    method,
    path: url.pathname,
    query: url.search.slice(1),
    timestamp,
    key: id,
    body: body ?? '',
  };
  const content = over.map((part) => parts[part]).join(separator);
  const { key_header: keyHeader, timestamp_header: timestampHeader } = names;
  return {
    [header]: prefix + createHmac(hash, secret).update(content).digest(encoding),
    ...(keyHeader === undefined ? {} : { [keyHeader]: id }),
    ...(timestampHeader === undefined ? {} : { [timestampHeader]: timestamp }),
  };
}

/** The first half of the key pair is the issuer. */
function token({ algorithm, lifetime_seconds: lifetimeSeconds }: Jwt, apiKey: string, now: number): string {
  const { id: issuer, secret } = pairOf(apiKey);
  return jsonWebToken({ algorithm, issuer, secret, lifetimeSeconds, now });
}

function pairOf(apiKey: string): { readonly id: string; readonly secret: string } {
  const [, id, secret] = /^([^:]+):(.+)$/.exec(apiKey) ?? [];
  if (id === undefined || secret === undefined)
    throw new UpstreamError(
      'unavailable',
      'The key must be a pair, <id>:<secret>, because requests are signed.',
      {
        code: 'key_pair_needed',
        failure: { class: 'quota' },
      },
    );
  return { id, secret };
}
