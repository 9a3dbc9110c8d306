import { z } from 'zod';
import { accountParams, findAccount, reason } from '../admin-input.ts';
import { accountAlertFields, accountAlertMeaning, accountAlertSuccess, setAlert } from '../account-alert.ts';
import type { AccountAlertDeps } from '../account-alert.ts';
import { adminRoute } from '../route.ts';
import type { Route } from '../route.ts';

export function setAccountAlert(deps: AccountAlertDeps): Route {
  return adminRoute({
    operationId: 'setAccountAlert',
    access: 'money',
    summary: 'Post an event when an account has little left',
    description: accountAlertMeaning,
    method: 'post',
    paths: ['/admin/v1/accounts/:account/alert'],
    input: z.object({ params: accountParams, body: z.object({ ...accountAlertFields, reason }) }),
    success: accountAlertSuccess,
    errors: ['account_not_found', 'callback_url_not_allowed'],
    async handle({ params, body }) {
      const { id } = await findAccount(deps.accounts, params.account);
      return setAlert(id, body, deps);
    },
  });
}
