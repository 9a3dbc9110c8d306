import { z } from 'zod';
import { balanceAlertSuccess, showAlert } from '../balance-alert.ts';
import type { BalanceAlertDeps } from '../balance-alert.ts';
import { keyRoute } from '../route.ts';
import type { Route } from '../route.ts';

export function getOwnBalanceAlert(deps: Pick<BalanceAlertDeps, 'balanceAlerts' | 'secrets'>): Route {
  return keyRoute({
    operationId: 'getOwnBalanceAlert',
    scope: 'read_account',
    summary: 'When an event is posted because little is left',
    tag: 'Account',
    method: 'get',
    paths: ['/v1/balance/alert'],
    input: z.object({}),
    success: balanceAlertSuccess,
    handle: ({ caller }) => showAlert(caller.account, deps),
  });
}
