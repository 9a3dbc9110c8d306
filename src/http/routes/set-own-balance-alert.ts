import { z } from 'zod';
import { balanceAlertFields, balanceAlertMeaning, balanceAlertSuccess, setAlert } from '../balance-alert.ts';
import type { BalanceAlertDeps } from '../balance-alert.ts';
import { jsonBody } from '../body.ts';
import { keyRoute } from '../route.ts';
import type { Route } from '../route.ts';

const body = z
  .object(balanceAlertFields)
  .meta({ examples: [{ threshold: '10.00', url: 'https://example.com/hooks' }] });

export function setOwnBalanceAlert(deps: BalanceAlertDeps): Route {
  return keyRoute({
    operationId: 'setOwnBalanceAlert',
    scope: 'manage',
    summary: 'Have an event posted when little is left',
    description: balanceAlertMeaning,
    tag: 'Account',
    method: 'post',
    paths: ['/v1/balance/alert'],
    input: z.object({ body }),
    readBody: jsonBody,
    success: balanceAlertSuccess,
    errors: ['callback_url_not_allowed'],
    handle: ({ body, caller }) => setAlert(caller.account, body, deps),
  });
}
