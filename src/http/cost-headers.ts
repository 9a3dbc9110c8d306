import { formatMicros, type Micros } from '../money/money.ts';
import type { CreatedTask } from '../commands/create-task.ts';
import { capHeaders } from './presenters/cap.ts';

const litellmCurrency = 'USD';

/**
 * LiteLLM adds the value of its own header to a request's cost in US dollars
 * (docs.litellm.ai/docs/proxy/pass_through_cost_tracking), so that header is omitted for other currencies.
 */
export function costHeaders(charge: Micros | undefined, currency: string): Readonly<Record<string, string>> {
  if (charge === undefined) return {};
  const cost = formatMicros(charge);
  return {
    'x-mediary-cost': cost,
    ...(currency === litellmCurrency ? { 'x-litellm-response-cost': cost } : {}),
  };
}

export const replayedHeader = { 'idempotency-replayed': 'true' } as const;

/** A hold is not a cost, so it must not be in a header that clients add up. */
export function createdHeaders({
  hold,
  cap,
  replayed,
}: Pick<CreatedTask, 'hold' | 'cap' | 'replayed'>): Readonly<Record<string, string>> {
  return {
    'x-mediary-hold': formatMicros(hold),
    ...capHeaders(cap),
    ...(replayed ? replayedHeader : {}),
  };
}
