import ipaddr from 'ipaddr.js';

/** Networks that are let through although they are not public: CIDRs, host names, and `*.zone` for the names below it. */
const hostName = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export function isCidr(text: string): boolean {
  return ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text);
}

export function isNetwork(text: string): boolean {
  return isCidr(text) || hostName.test(text);
}

/** `hostname`: in small letters, as URLs have it. */
export function isNamedHost(hostname: string, networks: readonly string[]): boolean {
  return networks.some((entry) =>
    entry.startsWith('*.') ? hostname.endsWith(entry.slice(1)) : hostname === entry,
  );
}
