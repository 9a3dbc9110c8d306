import { formatMicros } from '../money/money.ts';
import type { Micros } from '../money/money.ts';
import type { CreatedTask } from '../commands/create-task.ts';
import { capHeaders } from './presenters/cap.ts';

/** The only currency that LiteLLM knows. */
const litellmCurrency = 'USD';

/**
 * What was charged for the answer: a decimal in the gateway's currency. LiteLLM adds what its own header says to what a
 * request has cost (docs.litellm.ai/docs/proxy/pass_through_cost_tracking), in US dollars: no other currency is sent as such.
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

/** Of a create: what is held until the task ends, which is not a cost and never added up as one, and the tightest cap. */
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
