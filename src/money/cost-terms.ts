import { defined } from '../base/defined.ts';
import type { Price, PriceBasis } from './price.ts';

/**
 * What an upstream bills for a model's jobs on a channel. Stored with the attempt, so that later changes do not affect
 * it.
 */
export interface CostTerms {
  /**
   * What the operator pays, in the same form as a model's price. Undefined if only the upstream's reported cost
   * matters.
   */
  readonly price?: Price;
  readonly worths: Readonly<Record<string, string>>;
  /** Whether failed jobs are billed like successful ones. If undefined, the vendor's documented policy applies. */
  readonly failed?: 'billed' | 'free';
}

export interface CostRules extends Omit<Price, 'reviewAbove'> {
  readonly failed?: 'billed' | 'free' | undefined;
}

interface BilledChannel {
  readonly cost?: CostRules | undefined;
  readonly cost_units: Readonly<Record<string, string>>;
  readonly models: Readonly<Record<string, { readonly cost?: CostRules | undefined }>>;
}

/** Prices the requested output at the upstream's rates instead of the channel's selling price. */
export function costBasis({ facts, unsent, bounds, version }: PriceBasis, price: Price): PriceBasis {
  return { price, facts, ...defined({ unsent, bounds }), version };
}

export function costTermsOf(channel: BilledChannel, model: string, currency: string): CostTerms {
  const rules = channel.models[model]?.cost ?? channel.cost;
  const worths = { [currency]: '1', ...channel.cost_units };
  if (rules === undefined) return { worths };
  const { failed, ...price } = rules;
  return { price, worths, ...defined({ failed }) };
}
