import { inPricedSizes } from '../money/charge.ts';
import { worthOf } from '../money/cost.ts';
import { costBasis, costTermsOf } from '../money/cost-terms.ts';
import type { Price } from '../money/price.ts';
import { isPriced, settle } from '../money/settle.ts';
import { totalCost, type UpstreamCost } from '../task/cost.ts';
import type { RoutePlan } from '../routing/catalogue.ts';
import type { ChannelAnswer, ChannelCall } from './call-channel.ts';

type DeliveredAnswer = Extract<ChannelAnswer, { kind: 'delivered' }>;
type FailedAnswer = Extract<ChannelAnswer, { kind: 'failed' }>;
type Plan = Pick<RoutePlan, 'basis' | 'currency'>;

/**
 * Uses the cost that the upstream reported or, if there is none, the channel's rules. Includes other calls that may
 * have been billed.
 */
export function costOfImages(
  { channel, request }: ChannelCall,
  { delivery, ambiguous }: DeliveredAnswer,
  plan: Plan,
): UpstreamCost {
  const { price, worths } = costTermsOf(channel.config, request.model, plan.currency);
  const { cost: reported, facts } = delivery;
  const worth = reported === undefined ? undefined : worthOf(reported, worths);
  const cost = worth ?? (price === undefined ? undefined : byRules(price));
  const { unknown, ...known } = totalCost([cost]);
  return { ...known, unknown: unknown + ambiguous, model: request.model, channel: channel.config.id };

  function byRules(rules: Price): bigint | undefined {
    const basis = costBasis(plan.basis, rules);
    const priced = inPricedSizes(facts, rules);
    const bill = settle({ basis, channel: channel.config.id, facts: priced, held: 0n });
    return isPriced(bill) ? bill.amount : undefined;
  }
}

/** Returns undefined if the upstream certainly charges nothing. */
export function costOfNoImages(
  { channel, request }: ChannelCall,
  { cost: reported, ambiguous }: FailedAnswer,
  { currency }: Plan,
): UpstreamCost | undefined {
  if (reported === undefined && ambiguous === 0) return undefined;
  const { worths } = costTermsOf(channel.config, request.model, currency);
  const { unknown, ...known } = totalCost(reported === undefined ? [] : [worthOf(reported, worths)]);
  return { ...known, unknown: unknown + ambiguous, model: request.model, channel: channel.config.id };
}
