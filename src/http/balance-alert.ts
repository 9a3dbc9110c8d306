import { GatewayError } from '../errors/errors.ts';
import { checkCallback } from './address-checks.ts';
import { money } from './admin-input.ts';
import { callbackUrl } from './body-fields.ts';
import type { RouteDeps } from './deps.ts';
import { balanceAlertSchema, presentBalanceAlert } from './presenters/balance-alert.ts';
import { jsonReply } from './route.ts';
import type { Reply } from './route.ts';

/** What an operator's and the owner's route share. */
export type BalanceAlertDeps = Pick<
  RouteDeps,
  'accounts' | 'balanceAlerts' | 'checkCallbackUrl' | 'ledger' | 'noteBalance' | 'secrets'
>;

export const balanceAlertFields = {
  threshold: money.optional().meta({
    description: 'An event is posted when less than this is available; absent: no event any more.',
  }),
  url: callbackUrl.meta({ description: 'Where events are posted, as callbacks are.' }),
};

export interface BalanceAlertInput {
  readonly threshold?: bigint | undefined;
  readonly url?: string | undefined;
}

export const balanceAlertSuccess = { description: 'The alert as it is now.', schema: balanceAlertSchema };

export const balanceAlertMeaning =
  'One event of the type `balance.low` is posted each time that the available balance falls below the threshold, signed with the webhook secret of the account, and again only after it was above. A balance that is below already is an event too. Replaces the alert before.';

/** Throws GatewayError. */
export async function setAlert(
  account: string,
  { threshold, url }: BalanceAlertInput,
  deps: BalanceAlertDeps,
): Promise<Reply> {
  if (threshold === undefined) {
    await deps.balanceAlerts.remove(account);
    return showAlert(account, deps);
  }
  if (url === undefined) {
    throw new GatewayError('missing_parameter', 'An alert needs an address.', { param: 'url' });
  }
  checkCallback(url, deps, 'url');
  const address = deps.secrets.seal({ purpose: 'alert-address', id: account }, url);
  await deps.balanceAlerts.set({ account, threshold, address });
  deps.noteBalance(account, await deps.ledger.balance(account));
  return showAlert(account, deps);
}

export async function showAlert(
  account: string,
  { balanceAlerts, secrets }: Pick<BalanceAlertDeps, 'balanceAlerts' | 'secrets'>,
): Promise<Reply> {
  const [alert] = await balanceAlerts.findMany([account]);
  const place = { purpose: 'alert-address', id: account } as const;
  const found = alert === undefined ? undefined : { alert, url: secrets.open(place, alert.address) };
  return jsonReply(presentBalanceAlert(account, found));
}
