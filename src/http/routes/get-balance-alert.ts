import { z } from 'zod';
import { accountParams, findAccount } from '../admin-input.ts';
import { balanceAlertSuccess, showAlert } from '../balance-alert.ts';
import type { BalanceAlertDeps } from '../balance-alert.ts';
import { adminRoute } from '../route.ts';
import type { Route } from '../route.ts';

type Deps = Pick<BalanceAlertDeps, 'accounts' | 'balanceAlerts' | 'secrets'>;

export function getBalanceAlert(deps: Deps): Route {
  return adminRoute({
    operationId: 'getBalanceAlert',
    access: 'read',
    summary: 'When an event is posted because an account has little left',
    method: 'get',
    paths: ['/admin/v1/accounts/:account/balance-alert'],
    input: z.object({ params: accountParams }),
    success: balanceAlertSuccess,
    errors: ['account_not_found'],
    async handle({ params }) {
      const { id } = await findAccount(deps.accounts, params.account);
      return showAlert(id, deps);
    },
  });
}
