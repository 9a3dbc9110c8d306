import { z } from 'zod';
import { invalidParameter } from '../../errors/errors.ts';
import { canonicalEndUser } from '../../intake/end-user.ts';
import { endUserName } from '../../money/caps.ts';
import { judgeCaps } from '../account-alert.ts';
import type { CapChangeDeps } from '../account-alert.ts';
import { accountParams, findAccount, plainWords, reason } from '../admin-input.ts';
import { capsFields, parseCaps, parseParts } from '../caps-input.ts';
import type { RouteDeps } from '../deps.ts';
import { accountSchema, presentAccount } from '../presenters/account.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

const cappedUsersMax = 1_000;
const userCharactersMax = 256;

const body = z.object({
  ...capsFields,
  users: z
    .array(z.object({ user: plainWords(userCharactersMax).min(1), ...capsFields }))
    .max(cappedUsersMax)
    .default([])
    .meta({ description: 'End users with caps of their own in place of those for everybody.' }),
  ignore_case: z.boolean().default(false).meta({
    description:
      'If true, names that differ only in case are one end user. It applies to later spending. Earlier spending stays under the names for which it was counted.',
  }),
  reason,
});

type Deps = Pick<RouteDeps, 'accounts' | 'now'> & CapChangeDeps;

export function setEndUserCaps(deps: Deps): Route {
  const { accounts, ledger, now } = deps;
  return adminRoute({
    operationId: 'setEndUserCaps',
    access: 'money',
    // Names of end users are pseudonyms wherever they are not sealed.
    unrecorded: ['users'],
    summary: 'Limit what the end users of an account may spend',
    description:
      'Each end user (`safety_identifier`, or `user` of an image) may spend so much with all keys of the account together, also one who was never seen before. Replaces all such caps; what is absent is not limited. Effective on every node within five seconds.',
    method: 'post',
    paths: ['/admin/v1/accounts/:account/end-user-caps'],
    input: z.object({ params: accountParams, body }),
    success: { description: 'The account.', schema: accountSchema },
    errors: ['account_not_found'],
    async handle({
      params,
      body: { reason: why, users, ignore_case: ignoreCase, ...everybody },
      operator: by,
    }) {
      const { id } = await findAccount(accounts, params.account);
      const named = parseParts(users, ({ user }) => endUserName(canonicalEndUser(user), { ignoreCase }));
      if (named === undefined) {
        throw invalidParameter('users', 'Each end user must be named once.');
      }
      const change = { at: now(), by, action: 'end_user_caps changed', reason: why };
      await accounts.setEndUserCaps(id, { default: parseCaps(everybody), named, ignoreCase }, change);
      await judgeCaps(id, deps);
      return jsonReply(presentAccount(await findAccount(accounts, id), await ledger.balance(id)));
    },
  });
}
