import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { bearerToken, parseJson } from '../wire.ts';
import type { WireRequest } from '../wire.ts';
import type { World } from '../world.ts';
import { klingError } from './kling-request.ts';

const claimsSchema = z.object({ iss: z.string(), exp: z.number(), nbf: z.number() });

/**
 * An API key, or on the legacy paths a JSON web token of a key pair; the simulator knows a pair as the key
 * `<access key>:<secret key>`.
 * @throws {WireError} 1001 without a key, 1003 and 1004 for a token whose time has not come, or has passed.
 */
export function klingKey(request: WireRequest, world: World): string | undefined {
  const token = bearerToken(request);
  if (token === undefined) throw klingError(401, 1001, 'Authorization is empty.');
  // A pair signs; it is never sent.
  if (token.includes(':')) return undefined;
  const [head = '', body = '', signature] = token.split('.');
  if (signature === undefined) return token;
  if (!request.path.startsWith('/v1/')) return undefined;
  const claims = claimsSchema.safeParse(parseJson(Buffer.from(body, 'base64url'))).data;
  if (claims === undefined) return undefined;
  const now = world.now() / 1000;
  if (claims.nbf > now) throw klingError(401, 1003, 'Authorization is not yet valid.');
  if (claims.exp <= now) throw klingError(401, 1004, 'Authorization has expired.');
  const { apiKeys } = world.parts;
  if (apiKeys === undefined) return token;
  return apiKeys.find((key) => {
    const [access, secret] = key.split(':');
    if (secret === undefined || access !== claims.iss) return false;
    return createHmac('sha256', secret).update(`${head}.${body}`).digest('base64url') === signature;
  });
}

/** What the console of the simulator hands out: `callback_secret` of a channel on it. */
export const klingCallbackSecret = `whsec_${Buffer.from('simulated-kling-callbacks').toString('base64')}`;
