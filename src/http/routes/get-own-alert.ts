import { z } from 'zod';
import { accountAlertSuccess, showAlert } from '../account-alert.ts';
import type { AccountAlertDeps } from '../account-alert.ts';
import { keyRoute } from '../route.ts';
import type { Route } from '../route.ts';

export function getOwnAlert(deps: Pick<AccountAlertDeps, 'accountAlerts' | 'capEvents' | 'secrets'>): Route {
  return keyRoute({
    operationId: 'getOwnAlert',
    scope: 'read_account',
    summary: 'When an event is posted because little is left',
    tag: 'Account',
    method: 'get',
    paths: ['/v1/alert'],
    input: z.object({}),
    success: accountAlertSuccess,
    handle: ({ caller }) => showAlert(caller.account, deps),
  });
}
