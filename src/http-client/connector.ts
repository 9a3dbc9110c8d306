import { connect as connectTcp, type LookupFunction, type Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { buildConnector } from 'undici';
import { afterRunning } from '../process/running-time.ts';
import { ipLiteral, isLocalhost, type AddressRules } from './address-rules.ts';
import { systemLookup, type Lookup } from './lookup.ts';

type ConnectFailure = 'address_refused' | 'dns_failed' | 'connect_failed' | 'connect_timeout' | 'tls_failed';

/** Thrown before any byte of the request has left this machine. */
export class ConnectError extends Error {
  readonly code: ConnectFailure;

  constructor(code: ConnectFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ConnectError';
    this.code = code;
  }
}

export interface ConnectorOptions {
  readonly rules: AddressRules;
  /** In milliseconds, for DNS and TCP combined, and again for TLS. */
  readonly connectTimeoutMs: number;
  readonly lookup?: Lookup;
  readonly tls?: Pick<ConnectionOptions, 'ca'>;
}

const keepAliveProbeMs = 60_000;
/** The next address is tried in parallel if a connection attempt takes longer than this. */
const nextAddressAfterMs = 1_000;

/**
 * Resolves names itself and connects to exactly the addresses that were checked, because a hostile name server could
 * return other addresses for a second lookup. The peer is checked again before the first byte is written, including
 * TLS.
 */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const upgrade = buildConnector({ ...options.tls, timeout: options.connectTimeoutMs, allowH2: false });
  const connect = async (
    target: buildConnector.Options,
    callback: buildConnector.Callback,
  ): Promise<void> => {
    let socket: Socket;
    try {
      socket = await open(target, options, upgrade);
    } catch (error) {
      callback(asConnectError(error), null);
      return;
    }
    callback(null, socket);
  };
  return (target, callback) => void connect(target, callback);
}

function asConnectError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  return new ConnectError('connect_failed', 'The connection could not be opened.', error);
}

async function open(
  target: buildConnector.Options,
  options: ConnectorOptions,
  upgrade: buildConnector.connector,
): Promise<Socket> {
  const limit = new AbortController();
  const cancel = afterRunning(options.connectTimeoutMs, () => limit.abort());
  let socket: Socket;
  try {
    const addresses = await permittedAddresses(target.hostname, options, limit.signal);
    const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80));
    socket = await openTcp(addresses, port, limit.signal);
  } finally {
    cancel();
  }
  const peer = socket.remoteAddress;
  if (peer === undefined || !options.rules.permits(peer, target.hostname)) {
    socket.destroy();
    throw new ConnectError('address_refused', 'The connection leads to an address that is not permitted.');
  }
  return target.protocol === 'https:' ? upgradeToTls({ ...target, httpSocket: socket }, upgrade) : socket;
}

async function permittedAddresses(
  hostname: string,
  options: ConnectorOptions,
  deadline: AbortSignal,
): Promise<readonly string[]> {
  const { rules, lookup = systemLookup } = options;
  const literal = ipLiteral(hostname);
  let addresses: readonly string[];
  if (literal !== undefined) addresses = [literal];
  else if (isLocalhost(hostname)) addresses = rules.loopbackOf(hostname);
  else addresses = await beforeDeadline(lookup(hostname), deadline);
  // One forbidden address rules out the whole host name, which is either hostile or not meant for the public.
  if (addresses.length === 0 || !addresses.every((address) => rules.permits(address, hostname))) {
    throw new ConnectError(
      'address_refused',
      'The host is not public, and it is not in a private network that this request is permitted to reach.',
    );
  }
  return addresses;
}

async function beforeDeadline(
  lookup: Promise<readonly string[]>,
  deadline: AbortSignal,
): Promise<readonly string[]> {
  const expired = new Promise<never>((_, reject) => {
    const fail = (): void => reject(new ConnectError('connect_timeout', 'The name lookup took too long.'));
    if (deadline.aborted) fail();
    else deadline.addEventListener('abort', fail, { once: true });
  });
  try {
    return await Promise.race([lookup, expired]);
  } catch (error) {
    if (error instanceof ConnectError) throw error;
    throw new ConnectError('dns_failed', 'The host name could not be resolved.', error);
  }
}

/**
 * Tries the addresses that have already been checked, with Happy Eyeballs. `lookup` only hands them to Node and does no
 * DNS.
 */
function openTcp(addresses: readonly string[], port: number, deadline: AbortSignal): Promise<Socket> {
  const answers = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const handOver: LookupFunction = (_hostname, _options, callback) => callback(null, answers);
  const [only] = addresses;
  return new Promise((resolve, reject) => {
    const socket = connectTcp({
      host: addresses.length === 1 && only !== undefined ? only : 'checked.invalid',
      port,
      lookup: handOver,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: nextAddressAfterMs,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveProbeMs,
    });
    const expire = (): void => {
      socket.destroy(new ConnectError('connect_timeout', 'The connection took too long to open.'));
    };
    deadline.addEventListener('abort', expire, { once: true });
    // Keep this listener, because a socket that fails later must not crash the process.
    socket.on('error', (error) => {
      deadline.removeEventListener('abort', expire);
      reject(asConnectError(error));
    });
    socket.once('connect', () => {
      deadline.removeEventListener('abort', expire);
      resolve(socket);
    });
    if (deadline.aborted) expire();
  });
}

function upgradeToTls(target: buildConnector.Options, upgrade: buildConnector.connector): Promise<Socket> {
  return new Promise((resolve, reject) => {
    upgrade(target, (error, socket) => {
      if (error === null) resolve(socket);
      else {
        target.httpSocket?.destroy();
        reject(new ConnectError('tls_failed', 'The TLS connection could not be opened.', error));
      }
    });
  });
}
