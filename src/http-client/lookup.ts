import { Resolver, lookup } from 'node:dns/promises';
import { isNamedHost } from '../base/networks.ts';

/** @throws if the name has no address */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/**
 * Asks the operating system, which also reads /etc/hosts and the search domains. Each lookup occupies one of the
 * process's few threads until all name servers have responded or timed out, which can take many seconds.
 */
export const systemLookup: Lookup = async (hostname) => {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
};

export interface OthersLookupOptions {
  /** Host names that the system looks up, because the operator has listed them. */
  readonly networks: readonly string[];
  /** Defaults to the system's name servers. */
  readonly servers?: readonly string[];
}

/** After the second attempt, which waits longer, the connection's own time limit has usually passed. */
const resolving = { timeout: 2_000, tries: 2 } as const;
/** A resolver reads the system's name servers only when it is created, and they may change. */
const resolverMs = 30_000;

/**
 * For host names that callers or upstreams have chosen. Their name servers may never respond, so these lookups use
 * sockets instead of the threads that all other lookups need.
 */
export function createOthersLookup({ networks, servers }: OthersLookupOptions): Lookup {
  let current: { readonly resolver: Resolver; readonly madeAt: number } | undefined;

  function resolverNow(): Resolver {
    const at = performance.now();
    if (current === undefined || at - current.madeAt > resolverMs) {
      const resolver = new Resolver(resolving);
      if (servers !== undefined) resolver.setServers(servers);
      current = { resolver, madeAt: at };
    }
    return current.resolver;
  }

  return async (hostname) => {
    if (isNamedHost(hostname, networks)) return systemLookup(hostname);
    const resolver = resolverNow();
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const failed = answers.find((answer) => answer.status === 'rejected');
    if (addresses.length === 0 && failed !== undefined) throw failed.reason;
    return addresses;
  };
}
