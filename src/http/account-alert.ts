import { z } from 'zod';
import { defined } from '../base/defined.ts';
import { capPercents } from '../money/cap-alerts.ts';
import { accountDeleted, GatewayError } from '../errors/errors.ts';
import { checkCallback } from './address-checks.ts';
import { money } from './admin-input.ts';
import { callbackUrl } from './body-fields.ts';
import type { RouteDeps } from './deps.ts';
import { accountAlertSchema, presentAccountAlert } from './presenters/account-alert.ts';

export type AccountAlertDeps = Pick<
  RouteDeps,
  'accounts' | 'accountAlerts' | 'capEvents' | 'checkCallbackUrl' | 'ledger' | 'noteBalance' | 'secrets'
>;

export type CapChangeDeps = Pick<RouteDeps, 'accountAlerts' | 'noteBalance' | 'ledger'>;

const percentWords = `${capPercents.slice(0, -1).join(', ')} and ${capPercents.at(-1)}`;

export const accountAlertFields = {
  threshold: money.optional().meta({
    description:
      'An event is posted when less than this amount is available. If absent, no events about the balance are posted.',
  }),
  caps: z
    .boolean()
    .default(false)
    .meta({
      description: `Whether an event is posted when ${percentWords} per cent of a cap are used.`,
    }),
  url: callbackUrl.meta({
    description: 'The URL to which events are posted. Events are signed and retried like callbacks.',
  }),
};

export interface AccountAlertInput {
  readonly threshold?: bigint | undefined;
  readonly caps: boolean;
  readonly url?: string | undefined;
}

export const accountAlertSuccess = { description: 'The current alert.', schema: accountAlertSchema };

export const accountAlertMeaning =
  'Events are signed with the account’s webhook secret. `balance.low` is posted when the available balance falls below the threshold, and again only after the balance has recovered. ' +
  `If \`caps\` is set, \`cap.reached\` is posted when ${percentWords} per cent of a cap are used, once per window. This covers the caps of keys, of keys for a single model, and of end users. Open holds count towards the percentage. If a percentage has already been reached, the event is posted immediately. The request replaces earlier settings. If it has neither \`threshold\` nor \`caps\`, no more events are posted.`;

type ShownAlert = z.output<typeof accountAlertSchema>;

export async function setAlert(
  account: string,
  { threshold, caps, url }: AccountAlertInput,
  deps: AccountAlertDeps,
): Promise<ShownAlert> {
  if ((await deps.accounts.find(account))?.deletion !== undefined) throw accountDeleted(account);
  if (threshold === undefined && !caps) {
    await deps.accountAlerts.remove(account);
    return readAlert(account, deps);
  }
  if (url === undefined) {
    throw new GatewayError('missing_parameter', 'An alert requires a URL.', { param: 'url' });
  }
  checkCallback(url, deps, 'url');
  const address = deps.secrets.seal({ purpose: 'alert-address', id: account }, url);
  const balance = await deps.ledger.balance(account);
  const judged = caps ? { upTo: balance.seq, revision: 1, judged: 0 } : undefined;
  await deps.accountAlerts.set({ account, address, ...defined({ threshold, caps: judged }) });
  deps.noteBalance(account, balance);
  return readAlert(account, deps);
}

/** Call this after the caps change, because current usage may already exceed them. */
export async function judgeCaps(
  account: string,
  { accountAlerts, noteBalance, ledger }: CapChangeDeps,
): Promise<void> {
  await accountAlerts.noteCapsChanged(account);
  noteBalance(account, await ledger.balance(account));
}

export async function readAlert(
  account: string,
  { accountAlerts, capEvents, secrets }: Pick<AccountAlertDeps, 'accountAlerts' | 'capEvents' | 'secrets'>,
): Promise<ShownAlert> {
  const [alert] = await accountAlerts.findMany([account]);
  if (alert === undefined) return presentAccountAlert(account);
  const url = secrets.open({ purpose: 'alert-address', id: account }, alert.address);
  const undelivered = alert.pending.length + (await capEvents.countUndelivered(account));
  return presentAccountAlert(account, { alert, url, undelivered });
}
