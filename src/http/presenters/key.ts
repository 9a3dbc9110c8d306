import { z } from 'zod';
import { keyScopes } from '../../base/key-scope.ts';
import { capsSchema, presentCaps } from './cap.ts';
import { changesSchema, presentChanges } from './change.ts';
import { isUnused } from '../../base/invitation.ts';
import type { ApiKey } from '../../store/keys.ts';
import { secondsOrNull, toSeconds, unixSeconds } from './unix-seconds.ts';

export const keyRuleFields = {
  strict: z
    .boolean()
    .meta({ description: 'Whether requests are rejected if one of their fields has no effect.' }),
  end_user_required: z
    .boolean()
    .meta({ description: 'Whether every create request must name its end user.' }),
};

export const keySchema = z
  .object({
    object: z.literal('key'),
    id: z.string(),
    account: z.string(),
    name: z.string(),
    prefix: z.string().meta({ description: 'The first characters of the key, which help you recognise it.' }),
    scopes: z.array(z.enum(keyScopes)),
    addresses: z.array(z.string()).nullable().meta({ description: 'Null means any address.' }),
    routes: z.array(z.string()).nullable().meta({
      description:
        'The operations that the key may use, by `operationId`. Null means everything that its scopes allow.',
    }),
    duration_max: z
      .number()
      .nullable()
      .meta({ description: 'The longest video, in seconds. Null means no limit.' }),
    resolution_max: z.string().nullable().meta({ description: 'Null means no limit.' }),
    models: z.array(z.string()).nullable().meta({ description: 'Null means all.' }),
    channels: z.array(z.string()).nullable().meta({ description: 'Null means all.' }),
    asset_urls: z
      .boolean()
      .meta({ description: 'Whether media may be `asset://…` references to an upstream account.' }),
    ...keyRuleFields,
    requests_per_minute: z.int().nullable(),
    concurrent_tasks: z.int().nullable(),
    caps: capsSchema
      .extend({ models: z.array(capsSchema.extend({ model: z.string() })) })
      .nullable()
      .meta({ description: 'The key’s caps. Null means no caps.' }),
    link_expires_at: unixSeconds(
      'When the link to the key expires. Null once the owner has retrieved the key.',
    ).nullable(),
    expires_at: unixSeconds().nullable(),
    revoked_at: unixSeconds().nullable(),
    last_used_at: unixSeconds('Accurate to the minute. Null if the key was never used.').nullable(),
    replaced_by: z
      .string()
      .nullable()
      .meta({ description: 'The key that replaced this one. This one is valid until `expires_at`.' }),
    created_at: unixSeconds(),
    changes: changesSchema,
  })
  .meta({ id: 'Key' });

export function presentKey(key: ApiKey): z.output<typeof keySchema> {
  return {
    object: 'key',
    id: key.id,
    account: key.account,
    name: key.name,
    prefix: key.prefix,
    scopes: [...key.scopes],
    addresses: key.addresses === undefined ? null : [...key.addresses],
    routes: key.routes === undefined ? null : [...key.routes],
    duration_max: key.secondsMax ?? null,
    resolution_max: key.resolutionMax ?? null,
    models: key.models === undefined ? null : [...key.models],
    channels: key.channels === undefined ? null : [...key.channels],
    asset_urls: key.assetUrls ?? false,
    strict: key.strict ?? false,
    end_user_required: key.endUserRequired ?? false,
    requests_per_minute: key.requestsPerMinute ?? null,
    concurrent_tasks: key.concurrentTasks ?? null,
    caps:
      key.caps === undefined
        ? null
        : {
            ...presentCaps(key.caps.all),
            models: [...key.caps.models].map(([model, caps]) => ({ model, ...presentCaps(caps) })),
          },
    link_expires_at: isUnused(key) ? secondsOrNull(key.invitation?.expiresAt) : null,
    expires_at: secondsOrNull(key.expiresAt),
    revoked_at: secondsOrNull(key.revokedAt),
    last_used_at: secondsOrNull(key.lastUsedAt),
    replaced_by: key.replacedBy ?? null,
    created_at: toSeconds(key.createdAt),
    changes: presentChanges(key.changes),
  };
}
