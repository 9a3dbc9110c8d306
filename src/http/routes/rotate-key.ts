import { z } from 'zod';
import { GatewayError } from '../../errors/errors.ts';
import { randomBase62 } from '../../base/ids.ts';
import type { ApiKey } from '../../store/keys.ts';
import { findKey, keyIdCharacters, keyParams, reason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { keySchema, presentKey } from '../presenters/key.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';
import { unixSeconds } from '../presenters/unix-seconds.ts';

type Deps = Pick<RouteDeps, 'keys' | 'auth' | 'randomBytes' | 'now'>;

const oldValidSecondsDefault = 24 * 60 * 60;
const oldValidSecondsMax = 90 * oldValidSecondsDefault;

const body = z.object({
  old_valid_seconds: z.int().min(0).max(oldValidSecondsMax).default(oldValidSecondsDefault).meta({
    description: 'How many seconds the old key remains valid. If 0, the old key expires immediately.',
  }),
  reason,
});

export function rotateKey({ keys, auth, randomBytes, now }: Deps): Route {
  return adminRoute({
    operationId: 'rotateKey',
    access: 'access',
    summary: 'Replace an API key with a new one',
    description:
      'The new key has the old one’s permissions and shares its limits. The old key keeps working until it expires. Its new expiry takes effect immediately on this node and within five seconds on the others.',
    method: 'post',
    paths: ['/admin/v1/keys/:key/rotate'],
    input: z.object({ params: keyParams, body }),
    success: {
      description: 'The new key. It will not be shown again.',
      schema: keySchema.extend({
        key: z.string(),
        replaces: z.string(),
        old_ends_at: unixSeconds('The old key is rejected from this time on.'),
      }),
    },
    errors: ['key_not_found', 'action_not_possible'],
    async handle({ params, body: { old_valid_seconds, reason: why }, operator: by }) {
      const old = await findKey(keys, params.key);
      const at = now();
      refuseEnded(old, at);
      const { token, hmac, prefix } = auth.newKey();
      const id = `key_${randomBase62(keyIdCharacters, randomBytes)}`;
      const created: ApiKey = {
        ...keys.termsOf(old),
        id,
        hmac,
        prefix,
        createdAt: at,
        countedAs: old.countedAs ?? old.id,
        changes: [{ at, by, action: `created to replace ${old.id}`, reason: why }],
      };
      const endsAt = Math.min(old.expiresAt ?? Infinity, at + old_valid_seconds * 1000);
      // Insert the new key first. If this process dies between the two writes, there is an extra key rather than a
      // missing one.
      await keys.insert(created);
      const change = { at, by, action: `replaced by ${id}`, reason: why };
      if (!(await keys.replace(old.id, { by: id, endsAt, change }))) {
        await keys.remove(id);
        throw new GatewayError(
          'action_not_possible',
          `The key ${old.id} was revoked or replaced during this request.`,
        );
      }
      auth.forget(old.id);
      const old_ends_at = Math.ceil(endsAt / 1000);
      return jsonReply({ ...presentKey(created), key: token, replaces: old.id, old_ends_at });
    },
  });
}

function refuseEnded({ id, revokedAt, expiresAt, replacedBy }: ApiKey, now: number): void {
  const why =
    revokedAt !== undefined
      ? 'was revoked'
      : replacedBy !== undefined
        ? `was already replaced by ${replacedBy}`
        : expiresAt !== undefined && expiresAt <= now
          ? 'has expired'
          : undefined;
  if (why === undefined) return;
  // The caller may have lost the response with the new key, so say how to get another one.
  const instead =
    revokedAt === undefined && replacedBy !== undefined ? 'Rotate that one' : 'Create a new one';
  throw new GatewayError('action_not_possible', `The key ${id} ${why}. ${instead} instead.`);
}
