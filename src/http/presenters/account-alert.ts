import { z } from 'zod';
import { formatMicros } from '../../money/money.ts';
import type { AccountAlert } from '../../store/account-alerts.ts';

export const accountAlertSchema = z
  .object({
    object: z.literal('account_alert'),
    account: z.string(),
    threshold: z.string().nullable().meta({ description: 'Null if there are no events about the balance.' }),
    caps: z.boolean().meta({ description: 'Whether events about caps are posted.' }),
    url: z
      .string()
      .nullable()
      .meta({ description: 'The URL without its query string. Null if nothing is posted.' }),
    is_below: z
      .boolean()
      .meta({ description: 'True while the balance is below the threshold and an event has reported this.' }),
    undelivered: z.int().meta({ description: 'Events that the endpoint has not accepted yet.' }),
  })
  .meta({ id: 'AccountAlert' });

export function presentAccountAlert(
  account: string,
  found?: { readonly alert: AccountAlert; readonly url: string; readonly undelivered: number },
): z.output<typeof accountAlertSchema> {
  return {
    object: 'account_alert',
    account,
    threshold: found?.alert.threshold === undefined ? null : formatMicros(found.alert.threshold),
    caps: found?.alert.caps !== undefined,
    url: found === undefined ? null : found.url.replace(/[?#].*$/s, ''),
    is_below: found?.alert.isBelow ?? false,
    undelivered: found?.undelivered ?? 0,
  };
}
