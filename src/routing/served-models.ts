import type { GatewayConfig } from '../config/gateway-file.ts';
import { originOf } from '../models/facts-table.ts';
import type { ModelOrigin } from '../models/facts-table.ts';
import type { Provider } from '../providers/provider.ts';

export interface ServedModelOrigin {
  readonly channel: string;
  readonly provider: string;
  readonly model: string;
  /** The upstream's name for the model. */
  readonly upstream: string;
  /** The source of the facts. Undefined if they come from gateway.yaml. */
  readonly origin: ModelOrigin | undefined;
}

/** Finds the adapter that a channel specifies as its `provider`. */
type AdapterOf = (provider: string) => Provider | undefined;

/** Returns every model of every channel. */
export function servedModels(
  { channels, models }: Pick<GatewayConfig, 'channels' | 'models'>,
  adapterOf: AdapterOf,
): ServedModelOrigin[] {
  return channels.flatMap(({ id: channel, provider, models: served }) =>
    models.flatMap(({ id: model, kind }) => {
      const upstream = served[model]?.upstream;
      if (upstream === undefined) return [];
      const { video, image, imageTask } = adapterOf(provider) ?? {};
      const facts = (kind === 'video' ? video : (image ?? imageTask))?.facts;
      const origin = facts === undefined ? undefined : originOf(facts, upstream);
      return [{ channel, provider, model, upstream, origin }];
    }),
  );
}

export interface RetiredModel {
  readonly channel: string;
  readonly model: string;
  /** A sentence for operators. */
  readonly text: string;
}

/** Returns the configured models that their vendors no longer serve at this time. */
export function retiredModels(
  config: Pick<GatewayConfig, 'channels' | 'models'>,
  adapterOf: AdapterOf,
  now: number,
): RetiredModel[] {
  return servedModels(config, adapterOf).flatMap(({ channel, model, upstream, origin }) => {
    const { on, source } = origin?.retirement ?? {};
    if (on === undefined || Date.parse(on) > now) return [];
    const text = `${upstream}, which ${channel} serves as ${model}, was shut down on ${on} (${source}). Serve another model, or remove it from the channel.`;
    return [{ channel, model, text }];
  });
}
