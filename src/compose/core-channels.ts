import { GatewayError } from '../errors/errors.ts';
import type { AppDeps } from '../http/deps.ts';
import { providers } from '../providers/index.ts';
import { createChannels, type ChannelLinks, type Channels } from '../routing/channels.ts';
import { meteredChannels } from '../routing/metered-channels.ts';
import { tryCredential } from '../routing/try-credential.ts';
import type { Core } from './core.ts';
import { timeLimit } from '../process/running-time.ts';

export function openChannels({
  config,
  metrics,
  fileProvider,
  ...core
}: Pick<Core, 'config' | 'outbound' | 'log' | 'metrics' | 'fileProvider'>): Channels {
  const options = { ...channelParts(core), current: config, fileProvider };
  return meteredChannels(createChannels(options), metrics);
}

function channelParts({ outbound, log }: Pick<Core, 'outbound' | 'log'>) {
  const { requestOf, linksOf } = outbound;
  const links: ChannelLinks = {
    check: (channel, url) => linksOf(channel).checkAddress(url),
    onWithheld: (urls) => log.error({ url: urls }, 'an image was delivered with a link that cannot be used'),
  };
  return { requestOf, providers, links };
}

/** Opens the channels of a draft in order to try one of their credentials, because no process has opened them. */
export function createTryCredential({
  fileProvider,
  ...core
}: Pick<Core, 'outbound' | 'log' | 'fileProvider'>): AppDeps['tryCredential'] {
  return async (config, id, credential) => {
    const channel = createChannels({ ...channelParts(core), current: () => config, fileProvider })(id);
    if (channel?.config.credentials.some((one) => one.id === credential) !== true)
      throw new GatewayError('channel_not_found', 'The draft has no such channel or credential.', {
        param: 'channel',
      });
    return tryCredential(channel, credential, timeLimit(credentialMs));
  };
}

const credentialMs = 15_000;
