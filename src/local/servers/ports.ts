import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { createServer } from 'node:net';

import { messageOf, systemCodeOf } from '../../base/caught.ts';
import { LocalServerError } from './local-options.ts';

const loopback = '127.0.0.1';
const neighboursMax = 50;
/**
 * This range lies below the one that systems use for outgoing connections. Otherwise, such a connection could take a
 * port before its server binds it.
 */
const anyPort = { from: 15_000, below: 32_000 } as const;
const startsMax = 4;
const inUse = /EADDRINUSE|address already in use/i;

/**
 * `preferred` means this port or the next free one, `fixed` means this port or an error, and `any` means a random port.
 */
export type PortRequest = { preferred: number } | { fixed: number } | 'any';

/**
 * Until this process exits, no other call gets the same port, even in another process. The exception is a `fixed`
 * request from this process. A program that does not use this function may still take the port (see `startOnPort`).
 */
export async function choosePort(request: PortRequest, purpose: string): Promise<number> {
  if (request === 'any') {
    return chooseAny(purpose);
  }
  if ('fixed' in request) {
    return requirePort(request.fixed, purpose);
  }
  for (let port = request.preferred; port < request.preferred + neighboursMax && port < 65_536; port += 1) {
    // Try one port at a time, so that the lowest free port is chosen.
    if (await take(port)) {
      return port;
    }
  }
  return chooseAny(purpose);
}

/**
 * Starts a server on a free port. If another program takes the port first, starts over, up to four times in total. Each
 * attempt uses another port unless the port is fixed.
 */
export async function startOnPort<Running>(
  request: PortRequest,
  purpose: string,
  start: (port: number) => Promise<Running>,
): Promise<Running> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(request, purpose);
    try {
      return await start(port);
    } catch (error) {
      if (attempt === startsMax || !inUse.test(messageOf(error))) throw error;
    }
  }
}

async function chooseAny(purpose: string): Promise<number> {
  for (let attempt = 1; attempt <= neighboursMax; attempt += 1) {
    const port = randomInt(anyPort.from, anyPort.below);
    if (await take(port)) {
      return port;
    }
  }
  throw new LocalServerError(
    `No port is free for ${purpose}: ${neighboursMax} ports between ${anyPort.from} and ${anyPort.below} were tried, but none could be bound.`,
  );
}

async function requirePort(port: number, purpose: string): Promise<number> {
  // Ignore the result, because a restarted server reserves its own fixed port again.
  await reserve(port);
  try {
    await bindOnce(port);
    return port;
  } catch (error) {
    const reason =
      systemCodeOf(error) === 'EADDRINUSE' ? 'is in use' : `cannot be bound (${systemCodeOf(error)})`;
    throw new LocalServerError(`Port ${port} for ${purpose} ${reason}: free it or choose another.`, {
      cause: error,
    });
  }
}

async function take(port: number): Promise<boolean> {
  const reservation = await reserve(port);
  if (reservation === undefined) return false;
  try {
    await bindOnce(port);
    return true;
  } catch {
    reservation.close();
    return false;
  }
}

/**
 * Reserves a port by binding the UDP port with the same number, which only one process can do. The server can still
 * bind the TCP port, and the system frees the reservation however the process exits. Returns undefined if the port is
 * already reserved.
 */
function reserve(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    // Some systems forbid binding UDP ports. On those, use the port without a reservation.
    socket.on('error', (error) => resolve(systemCodeOf(error) === 'EADDRINUSE' ? undefined : socket));
    socket.bind({ port, address: loopback, exclusive: true }, () => {
      socket.unref();
      resolve(socket);
    });
  });
}

function bindOnce(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: loopback, exclusive: true }, () => server.close(() => resolve()));
  });
}
