import type { ChannelConfig, ModelConfig, ServedModel } from '../config/gateway-file.ts';
import { offeredFacts } from '../models/offered-facts.ts';
import type { OfferedFacts } from '../models/offered-facts.ts';
import type { Offer } from './capability.ts';

/** What a caller may use of a model. */
export interface OfferedModel {
  /** What each channel takes, as far as that is known; what several take alike once. */
  readonly facts: readonly OfferedFacts[];
  /** Of channels that have a price of their own, by their ids. */
  readonly channelPrices: ReadonlyMap<string, NonNullable<ServedModel['price']>>;
  readonly currency: string;
}

/** `offers`: of the channels that the caller may use. */
export function offeredModel(
  { id }: ModelConfig,
  offers: Iterable<readonly [ChannelConfig, Offer]>,
  currency: string,
): OfferedModel {
  const offered = new Map<string, OfferedFacts>();
  const channelPrices = new Map<string, NonNullable<ServedModel['price']>>();
  for (const [channel, offer] of offers) {
    if (!channel.enabled) continue;
    const facts = offeredFacts(offer.facts);
    offered.set(JSON.stringify(facts), facts);
    const { price } = channel.models[id] ?? {};
    if (price !== undefined) channelPrices.set(channel.id, price);
  }
  return { facts: [...offered.values()], channelPrices, currency };
}
