import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

/** All IPv6 addresses of one household or machine are treated as one. */
export interface ClientAddress {
  of(request: IncomingMessage): string;
  /** Returns true if a request with x-forwarded-for arrived recently, even though no proxy is trusted. */
  isProxied(): boolean;
}

const proxiedMs = 600_000;

type Network = ReturnType<typeof ipaddr.parseCIDR>;

export function createClientAddress(trustedProxies: readonly string[], now: () => number): ClientAddress {
  const exactAddressOf = createExactAddress(trustedProxies);
  let proxiedAt: number | undefined;
  return {
    of(request) {
      if (trustedProxies.length === 0 && request.headers['x-forwarded-for'] !== undefined) proxiedAt = now();
      return addressName(exactAddressOf(request));
    },
    isProxied: () => proxiedAt !== undefined && now() - proxiedAt < proxiedMs,
  };
}

export function createExactAddress(trustedProxies: readonly string[]): ClientAddress['of'] {
  const trusted = trustedProxies.map((text) => ipaddr.parseCIDR(text));
  return ({ socket, headers }) => {
    const peer = socket.remoteAddress ?? '';
    const forwarded = headers['x-forwarded-for'];
    if (trusted.length === 0 || forwarded === undefined) return peer;
    // Ordered from nearest to farthest. An untrusted hop may have forged everything beyond itself.
    const hops = [peer, ...[forwarded].flat().join(',').split(',').toReversed()].map((hop) => hop.trim());
    return hops.find((hop) => !isInside(hop, trusted)) ?? hops.at(-1) ?? peer;
  };
}

export function isInNetworks(address: string, cidrs: readonly string[]): boolean {
  return isInside(
    address,
    cidrs.map((text) => ipaddr.parseCIDR(text)),
  );
}

function isInside(text: string, networks: readonly Network[]): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return networks.some((network) => address.kind() === network[0].kind() && address.match(network));
}

export function addressName(text = ''): string {
  if (!ipaddr.isValid(text)) return '';
  const address = ipaddr.process(text);
  return address instanceof ipaddr.IPv6 ? address.parts.slice(0, 4).join(':') : address.toString();
}
