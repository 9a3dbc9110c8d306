import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isCidr, isNamedHost } from '../base/networks.ts';
import { isPlain } from '../base/plain-text.ts';

/**
 * Decides which addresses the gateway may connect to on behalf of others. A caller's URL is checked twice: by
 * `checkUrl` when it arrives, and by `permits` for every resolved address and for the connected peer. Only the second
 * check needs DNS.
 */
export interface AddressRules {
  checkUrl(url: string): string | undefined;
  permits(address: string, hostname: string): boolean;
  loopbackOf(hostname: string): readonly string[];
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

const urlCharactersMax = 8192;

/**
 * No other ports below 1024 are permitted. Above that, every port is permitted except those of common internal services
 * without authentication.
 */
const webPorts = new Set([80, 443]);
const internalPorts = new Set([
  1433, 1521, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 4222, 5432, 5601, 5672, 5900, 5984, 6000, 6379,
  6380, 6443, 6665, 6666, 6667, 6668, 6669, 6697, 7000, 7233, 7234, 7235, 7239, 7474, 8086, 8500, 9042, 9092,
  9200, 9300, 10_250, 10_255, 10_389, 11_211, 15_672, 25_565, 26_379, 27_017, 27_018, 27_019, 28_017, 50_051,
]);

const internalNames =
  /(?:^|\.)(?:localdomain|local|internal|intranet|lan|home|corp|private|svc|cluster|home\.arpa|test|invalid|onion)$/;
const localhostNames = /(?:^|\.)localhost$/;

const globalIpv6 = range('2000::/3');
/**
 * Ranges inside 2000::/3 that are not part of the public internet. 6to4 and Teredo addresses embed an IPv4 address. The
 * others are reserved.
 */
const specialIpv6 = ['2002::/16', '2001::/23', '2001:db8::/32', '2620:4f:8000::/48', '3fff::/20'].map(range);
/** Clouds use these public addresses for their own infrastructure on customers' hosts (wire server, metadata). */
const specialIpv4 = ['168.63.129.16/32', '192.0.0.0/24'].map(range);

/** `networks` lists the permitted private networks, as described in src/base/networks.ts. */
export function createAddressRules(networks: readonly string[]): AddressRules {
  const allowed = networks.filter(isCidr).map(range);
  const isNamed = (hostname: string): boolean =>
    isNamedHost(withoutFinalDot(hostname.toLowerCase()), networks);
  const permits = (text: string, hostname: string): boolean => {
    const address = parseAddress(text);
    if (address === undefined) return false;
    return isInside(address, allowed) || isPublic(address) || isNamed(hostname);
  };
  const loopbackOf = (hostname: string) =>
    ['127.0.0.1', '::1'].filter((address) => permits(address, hostname));
  return {
    permits,
    loopbackOf,
    checkUrl: (text) => checkUrl(text, { permits, loopbackOf, isNamed }),
  };
}

export function ipLiteral(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname;
  return parseAddress(bare) === undefined ? undefined : bare;
}

export function isLocalhost(hostname: string): boolean {
  return localhostNames.test(withoutFinalDot(hostname.toLowerCase()));
}

interface UrlContext extends Pick<AddressRules, 'permits' | 'loopbackOf'> {
  readonly isNamed: (hostname: string) => boolean;
}

function checkUrl(text: string, context: UrlContext): string | undefined {
  if (text.length > urlCharactersMax) return `It is longer than ${urlCharactersMax} characters.`;
  // The URL parser silently removes or converts these characters, so a URL that contains them is a trick or a mistake.
  if (/[\s\\]/u.test(text) || !isPlain(text))
    return 'It contains white space, control or format characters or a backslash.';
  if (!/^https?:\/\/[^/]/i.test(text)) return 'It must begin with https:// or http:// and a host.';
  if (!URL.canParse(text)) return 'It is not a valid URL.';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'It must not contain credentials.';
  const port = url.port === '' ? 443 : Number(url.port);
  if (port < 1024 ? !webPorts.has(port) : internalPorts.has(port)) return `Port ${port} is not allowed.`;
  return checkHost(url.hostname, context);
}

function checkHost(hostname: string, context: UrlContext): string | undefined {
  const refusal = 'Its host is not a public address.';
  const literal = ipLiteral(hostname);
  if (literal !== undefined) return context.permits(literal, hostname) ? undefined : refusal;
  if (isLocalhost(hostname)) return context.loopbackOf(hostname).length > 0 ? undefined : refusal;
  const name = withoutFinalDot(hostname);
  if (name === '') return refusal;
  const isInternal = !name.includes('.') || internalNames.test(name);
  return isInternal && !context.isNamed(name) ? refusal : undefined;
}

function isPublic(address: Address): boolean {
  if (address instanceof ipaddr.IPv6)
    return isInside(address, [globalIpv6]) && !isInside(address, specialIpv6);
  return address.range() === 'unicast' && !isInside(address, specialIpv4);
}

function isInside(address: Address, ranges: readonly Range[]): boolean {
  return ranges.some(([base, bits]) => {
    if (address instanceof ipaddr.IPv4) return base instanceof ipaddr.IPv4 && address.match(base, bits);
    return base instanceof ipaddr.IPv6 && address.match(base, bits);
  });
}

/**
 * The kernel connects to the IPv4 address inside an IPv4-mapped one (`::ffff:127.0.0.1`). Such addresses occur in URLs
 * and as peer addresses of dual-stack sockets.
 */
function parseAddress(text: string): Address | undefined {
  const withoutZone = text.split('%')[0] ?? '';
  // Check first, because ipaddr's parser creates an Error with a stack for every text that is not an address.
  if (isIPv4(withoutZone)) return ipaddr.IPv4.parse(withoutZone);
  if (!ipaddr.IPv6.isValid(withoutZone)) return undefined;
  const address = ipaddr.IPv6.parse(withoutZone);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function range(cidr: string): Range {
  return ipaddr.parseCIDR(cidr);
}

function withoutFinalDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
