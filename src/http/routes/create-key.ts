import { defined } from '../../base/defined.ts';
import { z } from 'zod';
import { accountClosed, invalidParameter } from '../../errors/errors.ts';
import { randomBase62 } from '../../base/ids.ts';
import type { ApiKey } from '../../store/keys.ts';
import { displayName, findAccount, keyIdCharacters } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { keySchema, presentKey } from '../presenters/key.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';
import { unixSeconds } from '../presenters/unix-seconds.ts';

type Deps = Pick<RouteDeps, 'accounts' | 'catalogue' | 'keys' | 'auth' | 'randomBytes' | 'now'>;

const permittedItemsMax = 200;
const limitMax = 1_000_000;

const permitted = z.array(z.string().min(1)).min(1).max(permittedItemsMax);
const limit = z.int().min(1).max(limitMax);

const body = z.object({
  account: z.string().min(1),
  name: displayName,
  models: permitted.optional().meta({ description: 'Absent: all.' }),
  channels: permitted.optional().meta({ description: 'Absent: all.' }),
  asset_urls: z.boolean().optional().meta({
    description:
      'If true, media may be `asset://…` of an upstream; an account’s own files need no permission. Such an asset belongs to the upstream account, which all callers share: only for keys that are trusted with all of them.',
  }),
  requests_per_minute: limit.optional(),
  concurrent_tasks: limit.optional(),
  expires_at: unixSeconds('In the future.').optional(),
});

export function createKey({ accounts, catalogue, keys, auth, randomBytes, now }: Deps): Route {
  return adminRoute({
    operationId: 'createKey',
    summary: 'Create an API key',
    method: 'post',
    paths: ['/admin/v1/keys'],
    input: z.object({
      body: body.refine(({ expires_at }) => expires_at === undefined || expires_at * 1000 > now(), {
        path: ['expires_at'],
        error: 'must be in the future',
      }),
    }),
    success: {
      description: 'The key itself will not be shown again.',
      schema: keySchema.extend({ key: z.string() }),
    },
    errors: ['account_not_found', 'account_closed'],
    async handle({ body: asked, operator: by }) {
      checkPermitted(asked, catalogue);
      const account = await findAccount(accounts, asked.account);
      if (account.closedAt !== undefined) throw accountClosed(account.id);
      const { token: key, hmac, prefix } = auth.newKey();
      const at = now();
      const created: ApiKey = {
        hmac,
        id: `key_${randomBase62(keyIdCharacters, randomBytes)}`,
        account: account.id,
        name: asked.name,
        prefix,
        createdAt: at,
        changes: [{ at, by, action: 'created', reason: '' }],
        ...restrictions(asked),
      };
      await keys.insert(created);
      return jsonReply({ ...presentKey(created), key });
    },
  });
}

/** A misspelt name would make a key that can do nothing. */
function checkPermitted(asked: z.output<typeof body>, catalogue: Deps['catalogue']): void {
  const models = new Set(catalogue.current().models.map(({ id }) => id));
  const lists = [
    ['models', asked.models ?? [], (id: string) => models.has(id)],
    ['channels', asked.channels ?? [], (id: string) => catalogue.channel(id) !== undefined],
  ] as const;
  for (const [name, ids, isKnown] of lists) {
    const index = ids.findIndex((id) => !isKnown(id));
    if (index === -1) continue;
    const what = name === 'models' ? 'model' : 'channel';
    throw invalidParameter(`${name}[${index}]`, `The configuration has no ${what} ${ids[index]}.`);
  }
}

function restrictions({ models, channels, ...asked }: z.output<typeof body>) {
  const { expires_at } = asked;
  return defined({
    models,
    channels,
    assetUrls: asked.asset_urls,
    requestsPerMinute: asked.requests_per_minute,
    concurrentTasks: asked.concurrent_tasks,
    expiresAt: expires_at === undefined ? undefined : expires_at * 1000,
  });
}
