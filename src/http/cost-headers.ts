import { formatMicros } from '../domain/money.ts';
import type { Micros } from '../domain/money.ts';

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

/** Of a create: what is held until the task ends. Not a cost, and never added up as one. */
export function holdHeaders(hold: Micros): Readonly<Record<string, string>> {
  return { 'x-mediary-hold': formatMicros(hold) };
}
