import { defined } from '../base/defined.ts';
import type { Price, PriceBasis } from './price.ts';

/**
 * An upstream's billing terms for jobs of a model on a channel. They are frozen with the attempt, so that later edits
 * do not affect it.
 */
export interface CostTerms {
  /**
   * A price in the same form as a model's, but paid by the operator. Absent if only the upstream's reported cost
   * counts.
   */
  readonly price?: Price;
  /** The value of each upstream cost unit in the gateway's currency, as a decimal string. */
  readonly worths: Readonly<Record<string, string>>;
  /** Whether failed jobs are billed like successful ones. Absent if the vendor's documented policy applies. */
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

/**
 * Returns the basis for computing the cost: what was requested, at the upstream's rates. The channel's selling price is
 * irrelevant.
 */
export function costBasis({ facts, unsent, bounds, version }: PriceBasis, price: Price): PriceBasis {
  return { price, facts, ...defined({ unsent, bounds }), version };
}

/** Returns a model's cost terms. The channel's rules for the model override its general ones. */
export function costTermsOf(channel: BilledChannel, model: string, currency: string): CostTerms {
  const rules = channel.models[model]?.cost ?? channel.cost;
  const worths = { [currency]: '1', ...channel.cost_units };
  if (rules === undefined) return { worths };
  const { failed, ...price } = rules;
  return { price, worths, ...defined({ failed }) };
}
