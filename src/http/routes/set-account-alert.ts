import { z } from 'zod';
import { accountParams, findAccount, reason } from '../admin-input.ts';
import { fieldChanges } from '../../base/field-changes.ts';
import {
  accountAlertFields,
  accountAlertMeaning,
  accountAlertSuccess,
  readAlert,
  setAlert,
} from '../account-alert.ts';
import type { AccountAlertDeps } from '../account-alert.ts';
import { jsonReply, settingRoute, type Route } from '../route.ts';

export function setAccountAlert(deps: AccountAlertDeps): Route {
  return settingRoute({
    operationId: 'setAccountAlert',
    access: 'money',
    summary: 'Set the alert of an account for a low balance and for caps',
    description: accountAlertMeaning,
    method: 'post',
    paths: ['/admin/v1/accounts/:account/alert'],
    input: z.object({ params: accountParams, body: z.object({ ...accountAlertFields, reason }) }),
    success: accountAlertSuccess,
    errors: ['account_not_found', 'action_not_possible', 'callback_url_not_allowed'],
    async handle({ params, body }) {
      const { id } = await findAccount(deps.accounts, params.account);
      const before = await readAlert(id, deps);
      const alert = await setAlert(id, body, deps);
      return { reply: jsonReply(alert), changes: fieldChanges(settingsOf(before), settingsOf(alert)) };
    },
  });
}

function settingsOf({ threshold, caps, url }: Awaited<ReturnType<typeof readAlert>>) {
  return { threshold, caps, url };
}
