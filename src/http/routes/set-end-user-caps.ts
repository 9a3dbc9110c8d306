import { fieldChanges } from '../../base/field-changes.ts';
import { z } from 'zod';
import { accountDeleted, invalidParameter } from '../../errors/errors.ts';
import { canonicalEndUser } from '../../intake/end-user.ts';
import { presentCaps } from '../presenters/cap.ts';
import { endUserName, type EndUserCaps } from '../../money/caps.ts';
import { judgeCaps, type CapChangeDeps } from '../account-alert.ts';
import { accountParams, findAccount, plainWords, reason } from '../admin-input.ts';
import { capsFields, parseCaps, parseParts } from '../caps-input.ts';
import type { RouteDeps } from '../deps.ts';
import { accountSchema, presentAccount } from '../presenters/account.ts';
import { jsonReply, settingRoute, type Route } from '../route.ts';

const cappedUsersMax = 1_000;
const userCharactersMax = 256;

const body = z.object({
  ...capsFields,
  users: z
    .array(z.object({ user: plainWords(userCharactersMax).min(1), ...capsFields }))
    .max(cappedUsersMax)
    .default([])
    .meta({ description: 'End users with their own caps instead of the general ones.' }),
  ignore_case: z.boolean().default(false).meta({
    description:
      'If true, names that differ only in case are one end user. This applies to future spending. Past spending stays under the names for which it was counted.',
  }),
  reason,
});

type Deps = Pick<RouteDeps, 'accounts' | 'now'> & CapChangeDeps;

export function setEndUserCaps(deps: Deps): Route {
  const { accounts, ledger, now } = deps;
  return settingRoute({
    operationId: 'setEndUserCaps',
    access: 'money',
    // Keep this field out of the audit log, because it contains end users' names. Elsewhere, only their pseudonyms are
    // stored unencrypted.
    unrecorded: ['users'],
    summary: 'Limit what the end users of an account may spend',
    description:
      'Limits what each end user (`safety_identifier`, or `user` for images) may spend across all of the account’s keys, including end users that have not been seen before. Replaces all such caps. An absent window is unlimited. Takes effect on every node within five seconds.',
    method: 'post',
    paths: ['/admin/v1/accounts/:account/end-user-caps'],
    input: z.object({ params: accountParams, body }),
    success: { description: 'The account.', schema: accountSchema },
    errors: ['account_not_found', 'action_not_possible'],
    async handle({
      params,
      body: { reason: why, users, ignore_case: ignoreCase, ...everybody },
      operator: by,
    }) {
      const { id, endUserCaps: before } = await findAccount(accounts, params.account);
      const named = parseParts(users, ({ user }) => endUserName(canonicalEndUser(user), { ignoreCase }));
      if (named === undefined) {
        throw invalidParameter('users', 'Each end user must be listed only once.');
      }
      const change = { at: now(), by, action: 'end_user_caps changed', reason: why };
      const caps = { default: parseCaps(everybody), named, ignoreCase };
      if (!(await accounts.setEndUserCaps(id, caps, change))) throw accountDeleted(id);
      await judgeCaps(id, deps);
      const account = await findAccount(accounts, id);
      const reply = jsonReply(presentAccount(account, await ledger.balance(id)));
      return { reply, changes: fieldChanges(fieldsOf(before), fieldsOf(account.endUserCaps)) };
    },
  });
}

function fieldsOf(caps: EndUserCaps | undefined) {
  const { day, month, total } = presentCaps(caps?.default ?? {});
  return { day, month, total, users: caps?.named.size ?? 0, ignore_case: caps?.ignoreCase ?? false };
}
