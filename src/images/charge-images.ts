import { divideHalfUp } from '../domain/money.ts';
import type { Micros } from '../domain/money.ts';
import { settle } from '../domain/price.ts';
import type { PriceBasis, PriceFacts, Settlement } from '../domain/price.ts';
import type { SettleFacts } from '../domain/task.ts';

export interface ImageChargeInput {
  readonly basis: PriceBasis;
  readonly channel: string;
  /** What came back; `images` is the number that arrived. */
  readonly facts: SettleFacts & { readonly images: number };
  /** The quality that the upstream says it rendered. */
  readonly quality?: string;
  readonly held: Micros;
  /** Images asked for. */
  readonly asked: number;
}

/**
 * The charge of what arrived, by the frozen prices. The size and quality asked for count; what the request left open
 * is what the upstream says it rendered. Where no rule knows that, the share of the hold that arrived is charged.
 */
export function chargeImages({ basis, channel, facts, quality, held, asked }: ImageChargeInput): Settlement {
  const { size, ...answered } = facts;
  // The caller never pays for more images than requested, whatever the upstream adds.
  const arrived = Math.min(facts.images, asked);
  const measured = { ...answered, images: arrived };
  const open = { ...openFact('size', size, basis.facts), ...openFact('quality', quality, basis.facts) };
  const rendered = { ...basis, facts: { ...basis.facts, ...open } };
  for (const candidate of [rendered, basis]) {
    const settlement = settle({ basis: candidate, channel, facts: measured, held });
    if (!settlement.estimated) return settlement;
  }
  return { amount: divideHalfUp(held * BigInt(arrived), BigInt(asked)), estimated: true };
}

/** An upstream says `2048x2048` where `2K` was asked for: price rules know the caller's wording. */
function openFact(name: 'size' | 'quality', answered: string | undefined, asked: PriceFacts): PriceFacts {
  const open = asked[name] === undefined || asked[name] === 'auto' || asked[name] === 'adaptive';
  return answered === undefined || !open ? {} : { [name]: answered };
}
