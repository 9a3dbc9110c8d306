import type { Catalogue } from '../routing/catalogue.ts';
import type { Billing } from './presenters/billed-attempt.ts';

/** What of the running configuration an attempt is shown with. */
export function billingOf(catalogue: Pick<Catalogue, 'channel' | 'current'>): Billing {
  return {
    currency: catalogue.current().currency,
    upstreamModel: (channel, model) => catalogue.channel(channel)?.models[model]?.upstream,
  };
}
