import { z } from 'zod';
import { accountAlertSuccess, readAlert, type AccountAlertDeps } from '../account-alert.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';

export function getOwnAlert(deps: Pick<AccountAlertDeps, 'accountAlerts' | 'capEvents' | 'secrets'>): Route {
  return keyRoute({
    operationId: 'getOwnAlert',
    scope: 'read_account',
    summary: 'Show the alert for a low balance and for caps',
    tag: 'Account',
    method: 'get',
    paths: ['/v1/alert'],
    input: z.object({}),
    success: accountAlertSuccess,
    handle: async ({ caller }) => jsonReply(await readAlert(caller.account, deps)),
  });
}
