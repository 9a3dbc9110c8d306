import type { HttpRequest } from '../providers/provider.ts';
import { createGuardedClient } from './guarded-client.ts';
import type { GuardedClient, MediaFetch, OpenedMedia } from './guarded-client.ts';
import { createOthersLookup, systemLookup, type Lookup } from './lookup.ts';
import { createUpstreamClient } from './upstream-client.ts';

interface ChannelNetworks {
  readonly base_url: string;
  readonly private_networks: readonly string[];
  readonly private_link_networks: readonly string[];
}

interface CallerNetworks {
  readonly media: readonly string[];
  readonly callbacks: readonly string[];
}

type Purpose =
  | { readonly kind: 'call'; readonly channel: ChannelNetworks }
  | { readonly kind: 'link'; readonly channel: ChannelNetworks | undefined }
  | { readonly kind: 'media' | 'callback' | 'notice' };

const everywhere = ['0.0.0.0/0', '::/0'];

function networksFor(purpose: Purpose, callers: CallerNetworks): readonly string[] {
  switch (purpose.kind) {
    case 'call':
      return purpose.channel.private_networks;
    case 'link':
      return purpose.channel?.private_link_networks ?? [];
    case 'media':
      return callers.media;
    case 'callback':
      return callers.callbacks;
    case 'notice':
      return everywhere;
    default:
      return purpose satisfies never;
  }
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

export type OpenLink = (channel: string, fetch: MediaFetch) => Promise<OpenedMedia>;

/** Requests for different purposes can reach different networks. */
export interface Outbound {
  readonly requestOf: (channel: ChannelNetworks) => HttpRequest;
  readonly linksOf: (
    channel: ChannelNetworks | undefined,
  ) => Pick<GuardedClient, 'checkAddress' | 'openMedia'>;
  readonly media: Pick<GuardedClient, 'checkAddress' | 'openMedia'>;
  readonly callbacks: Pick<GuardedClient, 'checkAddress' | 'deliver'>;
  readonly notices: Pick<GuardedClient, 'deliver'>;
  close(): Promise<void>;
}

export interface Lookups {
  /** For names that operators have configured. */
  readonly operators: Lookup;
  /** For names that callers or upstreams have chosen. */
  readonly others: (networks: readonly string[]) => Lookup;
}

const lookupsDefault: Lookups = {
  operators: systemLookup,
  others: (networks) => createOthersLookup({ networks }),
};

export function openOutbound(callers: CallerNetworks, lookups: Lookups = lookupsDefault): Outbound {
  const { operators: lookup, others } = lookups;
  const calls = onePerList((networks) => createUpstreamClient({ networks, lookup }));
  const uploads = onePerList((networks) => createUpstreamClient({ networks, lookup: others(networks) }));
  const guarded = onePerList((networks) => createGuardedClient({ networks, lookup: others(networks) }));
  const notices = createGuardedClient({ networks: networksFor({ kind: 'notice' }, callers), lookup });
  const guardedFor = (purpose: Purpose) => guarded.of(networksFor(purpose, callers));
  return {
    requestOf(channel) {
      const origin = originOf(channel.base_url);
      const call = calls.of(networksFor({ kind: 'call', channel }, callers));
      const link = uploads.of(networksFor({ kind: 'link', channel }, callers));
      // Adapters also call URLs from responses, such as upload targets. These are subject to the rules for links.
      return (asked) => (originOf(asked.url) === origin ? call : link)(asked);
    },
    linksOf: (channel) => guardedFor({ kind: 'link', channel }),
    media: guardedFor({ kind: 'media' }),
    callbacks: guardedFor({ kind: 'callback' }),
    notices,
    async close() {
      await Promise.all([calls, uploads, guarded, notices].map((client) => client.close()));
    },
  };
}

/** Keeps one client per list of networks, so that requests with different permissions never share a connection. */
function onePerList<Client extends { close(): Promise<void> }>(
  create: (networks: readonly string[]) => Client,
) {
  const known = new Map<string, Client>();
  return {
    of(networks: readonly string[]): Client {
      const key = networks.toSorted().join(',');
      const client = known.get(key) ?? create(networks);
      known.set(key, client);
      return client;
    },
    async close(): Promise<void> {
      await Promise.all([...known.values()].map((client) => client.close()));
    },
  };
}
