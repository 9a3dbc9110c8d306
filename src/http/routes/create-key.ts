import { defined } from '../../base/defined.ts';
import { z } from 'zod';
import { defaultScopes, keyScopes } from '../../base/key-scope.ts';
import { accountClosed, invalidParameter } from '../../errors/errors.ts';
import { randomBase62 } from '../../base/ids.ts';
import { resolutionLimitPattern } from '../../routing/key-limits.ts';
import type { ApiKey } from '../../store/keys.ts';
import { displayName, findAccount, keyIdCharacters } from '../admin-input.ts';
import { keyCapsFields, parseKeyCaps } from '../caps-input.ts';
import type { RouteDeps } from '../deps.ts';
import { requireAccess } from '../identify.ts';
import { linkOf, linkSchema, linkValidSeconds } from '../invitation.ts';
import { keySchema, presentKey } from '../presenters/key.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';
import { unixSeconds } from '../presenters/unix-seconds.ts';

type Deps = Pick<
  RouteDeps,
  'accounts' | 'catalogue' | 'keys' | 'auth' | 'invitations' | 'randomBytes' | 'now'
>;

const permittedItemsMax = 200;
const limitMax = 1_000_000;

const permitted = z.array(z.string().min(1)).min(1).max(permittedItemsMax);
const limit = z.int().min(1).max(limitMax);

const anyAddress = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()]);
const address = z
  .string()
  .refine(
    (text) => anyAddress.safeParse(text).success,
    'must be an IP address or a network, such as 203.0.113.7 or 203.0.113.0/24',
  );

const body = z.object({
  account: z.string().min(1),
  name: displayName,
  scopes: z
    .array(z.enum(keyScopes))
    .min(1)
    .default([...defaultScopes])
    .meta({
      description:
        '`create`: create tasks and files, and cancel or delete its own. `read_own`: read what the key itself created. `read_account`: also read what other keys created, the balance and the statement. `manage`: change the webhook secret and the account’s alert, and cancel or delete what other keys created.',
    }),
  addresses: z
    .array(address)
    .min(1)
    .max(permittedItemsMax)
    .optional()
    .meta({ description: 'IP addresses and networks from which the key may be used. Defaults to all.' }),
  routes: permitted.optional().meta({
    description: 'Operations that the key may use, by `operationId`. Defaults to all that its scopes allow.',
  }),
  duration_max: z
    .number()
    .positive()
    .max(86_400)
    .optional()
    .meta({ description: 'The longest video that the key may request, in seconds.' }),
  resolution_max: z
    .string()
    .regex(resolutionLimitPattern, 'must be a resolution, such as 720p, 1080p or 4k')
    .optional()
    .meta({ description: 'The largest resolution that the key may request.' }),
  models: permitted.optional().meta({ description: 'Defaults to all.' }),
  channels: permitted.optional().meta({ description: 'Defaults to all.' }),
  asset_urls: z.boolean().optional().meta({
    description:
      'If true, media may be `asset://…` references to assets of an upstream account. All callers share that upstream account, so allow this only for keys that you trust with all of its assets. An account’s own files need no permission.',
  }),
  strict: z.boolean().optional().meta({
    description:
      'If true, a request is rejected if one of its fields has no effect, as if every request had `strict: true` in its body.',
  }),
  end_user_required: z.boolean().optional().meta({
    description:
      'If true, every create request must name its end user (`safety_identifier` or `user`), so that no spending escapes the caps of end users.',
  }),
  requests_per_minute: limit.optional(),
  concurrent_tasks: limit.optional(),
  expires_at: unixSeconds('Must be in the future.').optional(),
  caps: z
    .object(keyCapsFields)
    .optional()
    .meta({ description: 'The key’s spending caps. Requires the `money` role. Defaults to no caps.' }),
  link_valid_seconds: linkValidSeconds.optional().meta({
    description:
      'If set, the response contains a link instead of the key. The first person to open the link on /account gets the key, and nobody else ever sees it.',
  }),
});

export function createKey(
  { accounts, catalogue, keys, auth, invitations, randomBytes, now }: Deps,
  routes: () => readonly Route[],
): Route {
  return adminRoute({
    operationId: 'createKey',
    access: 'access',
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
      description: 'The key, or the link to it, will not be shown again.',
      schema: keySchema.extend({
        key: z.string().optional().meta({ description: 'Absent if a link was requested.' }),
        link: linkSchema.link.optional(),
      }),
    },
    errors: ['account_not_found', 'account_closed'],
    async handle({ body: asked, operator: by, roles }) {
      if (asked.caps !== undefined) requireAccess({ name: by, roles }, 'money');
      const caps = asked.caps && parseKeyCaps(asked.caps, catalogue, 'caps.');
      checkPermitted(asked, catalogue, routes());
      const account = await findAccount(accounts, asked.account);
      if (account.closedAt !== undefined) throw accountClosed(account.id);
      const { token: key, hmac, prefix } = auth.newKey();
      const invited =
        asked.link_valid_seconds === undefined ? undefined : invitations.invite(asked.link_valid_seconds);
      const at = now();
      const created: ApiKey = {
        hmac,
        id: `key_${randomBase62(keyIdCharacters, randomBytes)}`,
        account: account.id,
        name: asked.name,
        // Nobody receives this key if there is an invitation link, because the key issued through the link replaces it.
        prefix: invited === undefined ? prefix : '',
        createdAt: at,
        changes: [{ at, by, action: 'created', reason: '' }],
        ...restrictions(asked),
        ...defined({ caps, invitation: invited?.invitation }),
      };
      await keys.insert(created);
      const given = invited === undefined ? { key } : { link: linkOf('account', invited.token) };
      return jsonReply({ ...presentKey(created), ...given });
    },
  });
}

/** Rejects a misspelt model, channel or route, which would make the key useless. */
function checkPermitted(
  asked: z.output<typeof body>,
  catalogue: Deps['catalogue'],
  routes: readonly Route[],
): void {
  const operations = new Set(
    routes.flatMap((route) => (route.authentication === 'key' ? route.operationId : [])),
  );
  const models = new Set(catalogue.current().models.map(({ id }) => id));
  const lists = [
    ['models', 'The configuration has no model', asked.models ?? [], (id: string) => models.has(id)],
    [
      'channels',
      'The configuration has no channel',
      asked.channels ?? [],
      (id: string) => catalogue.channel(id) !== undefined,
    ],
    ['routes', 'No route for keys is called', asked.routes ?? [], (id: string) => operations.has(id)],
  ] as const;
  for (const [name, complaint, ids, isKnown] of lists) {
    const index = ids.findIndex((id) => !isKnown(id));
    if (index === -1) continue;
    throw invalidParameter(`${name}[${index}]`, `${complaint} ${ids[index]}.`);
  }
}

function restrictions({ scopes, models, channels, addresses, routes, ...asked }: z.output<typeof body>) {
  const { expires_at } = asked;
  const optional = defined({
    models,
    channels,
    addresses: addresses?.map(networkOf),
    routes,
    secondsMax: asked.duration_max,
    resolutionMax: asked.resolution_max?.toLowerCase(),
    assetUrls: asked.asset_urls,
    strict: asked.strict,
    endUserRequired: asked.end_user_required,
    requestsPerMinute: asked.requests_per_minute,
    concurrentTasks: asked.concurrent_tasks,
    expiresAt: expires_at === undefined ? undefined : expires_at * 1000,
  });
  return { scopes: keyScopes.filter((scope) => scopes.includes(scope)), ...optional };
}

function networkOf(text: string): string {
  if (text.includes('/')) return text;
  return `${text}/${text.includes(':') ? 128 : 32}`;
}
