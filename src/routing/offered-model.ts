import type { ChannelConfig, ModelConfig, ServedModel } from '../config/gateway-file.ts';
import { offeredFacts, type OfferedFacts } from '../models/offered-facts.ts';
import type { Offer } from './capability.ts';

export interface OfferedModel {
  readonly facts: readonly OfferedFacts[];
  readonly channelPrices: ReadonlyMap<string, NonNullable<ServedModel['price']>>;
  readonly currency: string;
  /**
   * Prices are multiplied by the account's factor. Undefined if it is 1, or if the prices are not for a particular
   * account.
   */
  readonly factor?: string;
}

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
