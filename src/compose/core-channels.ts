import { providers } from '../providers/index.ts';
import { createChannels } from '../routing/channels.ts';
import type { ChannelLinks, Channels } from '../routing/channels.ts';
import { meteredChannels } from '../routing/metered-channels.ts';
import { createFileProviders } from '../vendor-files/file-provider.ts';
import type { FileProviders } from '../vendor-files/file-provider.ts';
import type { Core } from './core.ts';

/** Opens the channels of the running configuration and the adapters made from vendor files. */
export function openChannels({
  config,
  outbound,
  log,
  metrics,
  now,
}: Pick<Core, 'config' | 'outbound' | 'log' | 'metrics' | 'now'>): {
  readonly channels: Channels;
  readonly fileProvider: FileProviders;
} {
  const { requestOf, linksOf } = outbound;
  const links: ChannelLinks = {
    check: (channel, url) => linksOf(channel).checkAddress(url),
    onWithheld: (urls) => log.error({ url: urls }, 'an image was delivered with a link that cannot be used'),
  };
  const fileProvider = createFileProviders(now);
  const options = { current: config, requestOf, providers, fileProvider, links };
  return { channels: meteredChannels(createChannels(options), metrics), fileProvider };
}
