import { z } from 'zod';
import { accountAlertFields, accountAlertMeaning, accountAlertSuccess, setAlert } from '../account-alert.ts';
import type { AccountAlertDeps } from '../account-alert.ts';
import { jsonBody } from '../body.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';

const body = z
  .object(accountAlertFields)
  .meta({ examples: [{ threshold: '10.00', url: 'https://example.com/hooks' }] });

export function setOwnAlert(deps: AccountAlertDeps): Route {
  return keyRoute({
    operationId: 'setOwnAlert',
    scope: 'manage',
    summary: 'Set the alert for a low balance and for caps',
    description: accountAlertMeaning,
    tag: 'Account',
    method: 'post',
    paths: ['/v1/alert'],
    input: z.object({ body }),
    readBody: jsonBody,
    success: accountAlertSuccess,
    errors: ['action_not_possible', 'callback_url_not_allowed'],
    handle: async ({ body, caller }) => jsonReply(await setAlert(caller.account, body, deps)),
  });
}
