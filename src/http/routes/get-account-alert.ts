import { z } from 'zod';
import { accountParams, findAccount } from '../admin-input.ts';
import { accountAlertSuccess, readAlert, type AccountAlertDeps } from '../account-alert.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

type Deps = Pick<AccountAlertDeps, 'accounts' | 'accountAlerts' | 'capEvents' | 'secrets'>;

export function getAccountAlert(deps: Deps): Route {
  return adminRoute({
    operationId: 'getAccountAlert',
    access: 'read',
    summary: 'Show an account’s alert for a low balance and for caps',
    method: 'get',
    paths: ['/admin/v1/accounts/:account/alert'],
    input: z.object({ params: accountParams }),
    success: accountAlertSuccess,
    errors: ['account_not_found'],
    async handle({ params }) {
      const { id } = await findAccount(deps.accounts, params.account);
      return jsonReply(await readAlert(id, deps));
    },
  });
}
