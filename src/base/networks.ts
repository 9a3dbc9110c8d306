import ipaddr from 'ipaddr.js';

/**
 * A host name, or `*.zone` for every host name below a zone. Private networks are configured in this form or as CIDRs.
 */
const hostName = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export function isCidr(text: string): boolean {
  return ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text);
}

export function isNetwork(text: string): boolean {
  return isCidr(text) || hostName.test(text);
}

export function isNamedHost(hostname: string, networks: readonly string[]): boolean {
  return networks.some((entry) =>
    entry.startsWith('*.') ? hostname.endsWith(entry.slice(1)) : hostname === entry,
  );
}
