import type { ChannelConfig, ModelConfig, ServedModel } from '../config/gateway-file.ts';
import { offeredFacts } from '../models/offered-facts.ts';
import type { OfferedFacts } from '../models/offered-facts.ts';
import type { Offer } from './capability.ts';

/** The part of a model that a caller may use. */
export interface OfferedModel {
  /** Each channel's known facts. Facts shared by several channels are listed once. */
  readonly facts: readonly OfferedFacts[];
  /** Channel-specific prices, by channel id. */
  readonly channelPrices: ReadonlyMap<string, NonNullable<ServedModel['price']>>;
  readonly currency: string;
  /**
   * The account's factor, by which prices are multiplied. Undefined if it is 1, or if the prices are not
   * account-specific.
   */
  readonly factor?: string;
}

/** `offers` contains the offers of the channels that the caller may use. */
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
