import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

/** Whose request it is, as far as the network says: what belongs to one household or machine shares a name. */
export interface ClientAddress {
  of(request: IncomingMessage): string;
  /** Whether a request with x-forwarded-for has recently arrived although no proxy is trusted. */
  isProxied(): boolean;
}

/** How long such a request is remembered. */
const proxiedMs = 600_000;

type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** `trustedProxies`: CIDRs of the proxies in front, whose `x-forwarded-for` is believed. */
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

/** Returns the full address, for keys that are limited to certain addresses. */
export function createExactAddress(trustedProxies: readonly string[]): ClientAddress['of'] {
  const trusted = trustedProxies.map((text) => ipaddr.parseCIDR(text));
  return ({ socket, headers }) => {
    const peer = socket.remoteAddress ?? '';
    const forwarded = headers['x-forwarded-for'];
    if (trusted.length === 0 || forwarded === undefined) return peer;
    // From the nearest to the farthest; what stands behind the first stranger, a stranger has written.
    const hops = [peer, ...[forwarded].flat().join(',').split(',').toReversed()].map((hop) => hop.trim());
    return hops.find((hop) => !isInside(hop, trusted)) ?? hops.at(-1) ?? peer;
  };
}

/** Whether the address is in one of the CIDRs. */
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

/** An IPv4 address; of IPv6 the /64, all of whose addresses one host may use. */
export function addressName(text = ''): string {
  if (!ipaddr.isValid(text)) return '';
  const address = ipaddr.process(text);
  return address instanceof ipaddr.IPv6 ? address.parts.slice(0, 4).join(':') : address.toString();
}
