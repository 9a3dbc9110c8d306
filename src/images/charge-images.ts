import { divideHalfUp } from '../domain/money.ts';
import type { Micros } from '../domain/money.ts';
import { settle } from '../domain/price.ts';
import type { PriceBasis, Settlement } from '../domain/price.ts';
import type { SettleFacts } from '../domain/task.ts';

export interface ImageChargeInput {
  readonly basis: PriceBasis;
  readonly channel: string;
  /** What came back; `images` is the number that arrived. */
  readonly facts: SettleFacts & { readonly images: number };
  readonly held: Micros;
  /** Images asked for. */
  readonly asked: number;
}

/**
 * The charge of what arrived, by the frozen prices. An upstream may name the size in words that no price rule knows:
 * then the size that was asked for counts. Where even that says nothing, the share of the hold that arrived is charged.
 */
export function chargeImages({ basis, channel, facts, held, asked }: ImageChargeInput): Settlement {
  const exact = settle({ basis, channel, facts, held });
  if (!exact.estimated) return exact;
  const { size: _size, ...rest } = facts;
  const asAsked = settle({ basis, channel, facts: rest, held });
  if (!asAsked.estimated) return asAsked;
  const arrived = BigInt(Math.min(facts.images, asked));
  return { amount: divideHalfUp(held * arrived, BigInt(asked)), estimated: true };
}
