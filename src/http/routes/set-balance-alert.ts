import { z } from 'zod';
import { accountParams, findAccount, reason } from '../admin-input.ts';
import { balanceAlertFields, balanceAlertMeaning, balanceAlertSuccess, setAlert } from '../balance-alert.ts';
import type { BalanceAlertDeps } from '../balance-alert.ts';
import { adminRoute } from '../route.ts';
import type { Route } from '../route.ts';

export function setBalanceAlert(deps: BalanceAlertDeps): Route {
  return adminRoute({
    operationId: 'setBalanceAlert',
    access: 'money',
    summary: 'Post an event when an account has little left',
    description: balanceAlertMeaning,
    method: 'post',
    paths: ['/admin/v1/accounts/:account/balance-alert'],
    input: z.object({ params: accountParams, body: z.object({ ...balanceAlertFields, reason }) }),
    success: balanceAlertSuccess,
    errors: ['account_not_found', 'callback_url_not_allowed'],
    async handle({ params, body }) {
      const { id } = await findAccount(deps.accounts, params.account);
      return setAlert(id, body, deps);
    },
  });
}
