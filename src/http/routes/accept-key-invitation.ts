import { z } from 'zod';
import { accountClosed } from '../../errors/errors.ts';
import { adminBody } from '../body.ts';
import type { RouteDeps } from '../deps.ts';
import { idempotencyHeader, idempotencyKeyOf } from '../idempotency-key.ts';
import { acceptBody, openOrThrow, redeemOrThrow } from '../invitation.ts';
import { keyScopes } from '../../base/key-scope.ts';
import { jsonReply, openRoute, type Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'accounts' | 'keys' | 'auth' | 'invitations' | 'now'>;

export function acceptKeyInvitation({ accounts, keys, auth, invitations, now }: Deps): Route {
  return openRoute({
    operationId: 'acceptKeyInvitation',
    tag: 'Account',
    summary: 'Get an API key with a link',
    description:
      'Needs only the link, which can be used once. For ten minutes, a retry with the same `Idempotency-Key` gets the same response, so a lost response can be recovered.',
    method: 'post',
    paths: ['/invitations/keys/accept'],
    readBody: adminBody,
    headers: idempotencyHeader,
    input: z.object({ body: acceptBody }),
    success: {
      description:
        'A description of the key and, unless `dry_run` is set, the key itself, which will not be shown again.',
      schema: z.object({
        object: z.literal('key'),
        id: z.string(),
        account: z.string(),
        name: z.string(),
        scopes: z.array(z.enum(keyScopes)),
        models: z.array(z.string()).nullable().meta({ description: 'Null means all.' }),
        key: z.string().optional(),
      }),
    },
    errors: ['invitation_not_found', 'invalid_parameter', 'account_closed'],
    async handle({ body: { link, dry_run: isDry = false }, meta }) {
      const redeemed = invitations.redeem(link, idempotencyKeyOf(meta), auth.newKey);
      const invited = redeemed && (await keys.findInvited(redeemed.link));
      const owner = invited && (await accounts.find(invited.account));
      if (owner?.closedAt !== undefined) throw accountClosed(owner.id);
      const { id, account, name, scopes, models } = isDry
        ? openOrThrow(invited, now())
        : await redeemOrThrow(redeemed, (each) => keys.redeem(each, meta.address));
      const key = isDry ? undefined : redeemed?.issued.token;
      return jsonReply({ object: 'key', id, account, name, scopes, models: models ?? null, key });
    },
  });
}
