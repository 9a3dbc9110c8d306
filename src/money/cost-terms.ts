import { defined } from '../base/defined.ts';
import type { Price, PriceBasis } from './price.ts';

/** What an upstream bills for a job of a model on a channel: frozen with the attempt, so that an edit does not change it. */
export interface CostTerms {
  /** As a model's price, paid by the operator; absent: only the upstream's own number says. */
  readonly price?: Price;
  /** What one unit of the upstream's own number is worth, as decimal strings of the gateway's currency. */
  readonly worths: Readonly<Record<string, string>>;
  /** Whether a job that failed is billed like one that succeeded. Absent: as far as the vendor promises. */
  readonly failed?: 'billed' | 'free';
}

/** The remaining fields have the same meaning as in a model's price. */
export interface CostRules extends Omit<Price, 'reviewAbove'> {
  readonly failed?: 'billed' | 'free' | undefined;
}

interface BilledChannel {
  readonly cost?: CostRules | undefined;
  readonly cost_units: Readonly<Record<string, string>>;
  readonly models: Readonly<Record<string, { readonly cost?: CostRules | undefined }>>;
}

/** What was asked for, at what the upstream bills: no price that a channel sells at has a part in it. */
export function costBasis({ facts, bounds, version }: PriceBasis, price: Price): PriceBasis {
  return { price, facts, ...defined({ bounds }), version };
}

/** The model's own rules on the channel count, then the channel's. */
export function costTermsOf(channel: BilledChannel, model: string, currency: string): CostTerms {
  const rules = channel.models[model]?.cost ?? channel.cost;
  const worths = { [currency]: '1', ...channel.cost_units };
  if (rules === undefined) return { worths };
  const { failed, ...price } = rules;
  return { price, worths, ...defined({ failed }) };
}
