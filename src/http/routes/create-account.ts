import { z } from 'zod';
import { GatewayError } from '../../errors/errors.ts';
import { randomBase62 } from '../../base/ids.ts';
import { accountId, displayName, money } from '../admin-input.ts';
import { newWebhookSecret } from '../webhook-secret.ts';
import type { RouteDeps } from '../deps.ts';
import { requireAccess } from '../identify.ts';
import { accountSchema, presentAccount } from '../presenters/account.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'accounts' | 'secrets' | 'randomBytes' | 'now'>;

const idCharacters = 16;

const body = z.object({
  id: accountId.optional().meta({ description: 'Generated if absent.' }),
  name: displayName,
  overdraft_limit: money
    .refine((micros) => micros >= 0n, 'must not be negative')
    .optional()
    .meta({
      description:
        'How far below zero the balance may fall because of holds. A value above 0 requires the `money` role. Defaults to "0".',
    }),
});

export function createAccount({ accounts, secrets, randomBytes, now }: Deps): Route {
  return adminRoute({
    operationId: 'createAccount',
    access: 'access',
    summary: 'Create an account',
    method: 'post',
    paths: ['/admin/v1/accounts'],
    input: z.object({ body }),
    success: {
      description: 'The account. Its webhook secret will not be shown again.',
      schema: accountSchema.extend({ webhook_secret: z.string() }),
    },
    errors: ['account_exists'],
    async handle({ body: { id, name, overdraft_limit }, operator: by, roles }) {
      if (overdraft_limit !== undefined && overdraft_limit > 0n) requireAccess({ name: by, roles }, 'money');
      const secret = newWebhookSecret(randomBytes);
      const at = now();
      const own = id ?? `acct_${randomBase62(idCharacters, randomBytes)}`;
      const account = {
        id: own,
        name,
        overdraftLimit: overdraft_limit ?? 0n,
        webhookSecrets: [secrets.seal({ purpose: 'webhook-secret', id: own }, secret)],
        createdAt: at,
        changes: [{ at, by, action: 'created', reason: '' }],
      };
      if (!(await accounts.insert(account))) {
        throw new GatewayError('account_exists', `The account ${account.id} already exists.`, {
          param: 'id',
        });
      }
      return jsonReply({ ...presentAccount(account, { available: 0n, held: 0n }), webhook_secret: secret });
    },
  });
}
