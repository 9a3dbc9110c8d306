import { z } from 'zod';
import { formatMicros } from '../../money/money.ts';
import type { BalanceAlert } from '../../store/balance-alerts.ts';

export const balanceAlertSchema = z
  .object({
    object: z.literal('balance_alert'),
    account: z.string(),
    threshold: z.string().nullable().meta({ description: 'null: there is no alert.' }),
    url: z.string().nullable().meta({ description: 'Without its query.' }),
    is_below: z.boolean().meta({ description: 'The balance is below the threshold, and an event says so.' }),
    undelivered: z.int().meta({ description: 'Events that the address has not accepted yet.' }),
  })
  .meta({ id: 'BalanceAlert' });

export function presentBalanceAlert(
  account: string,
  found: { readonly alert: BalanceAlert; readonly url: string } | undefined,
): z.output<typeof balanceAlertSchema> {
  return {
    object: 'balance_alert',
    account,
    threshold: found === undefined ? null : formatMicros(found.alert.threshold),
    url: found === undefined ? null : found.url.replace(/[?#].*$/s, ''),
    is_below: found?.alert.isBelow ?? false,
    undelivered: found?.alert.pending.length ?? 0,
  };
}
