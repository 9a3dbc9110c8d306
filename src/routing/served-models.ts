import type { GatewayConfig } from '../config/gateway-file.ts';
import { originOf, type ModelOrigin } from '../models/facts-table.ts';
import type { Provider } from '../providers/provider.ts';

export interface ServedModelOrigin {
  readonly channel: string;
  readonly provider: string;
  readonly model: string;
  readonly upstream: string;
  readonly origin: ModelOrigin | undefined;
}

type AdapterOf = (provider: string) => Provider | undefined;

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
  readonly text: string;
}

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
