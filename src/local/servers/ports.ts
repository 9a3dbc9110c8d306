import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { createServer } from 'node:net';

import { messageOf, systemCodeOf } from '../../base/caught.ts';
import { LocalServerError } from './local-options.ts';

const loopback = '127.0.0.1';
const neighboursMax = 50;
/** Below what systems give to outgoing connections: one of those could have taken the port when its server binds it. */
const anyPort = { from: 15_000, below: 32_000 } as const;
const startsMax = 4;
/** As Node, Go, Java and mongod say it. */
const inUse = /EADDRINUSE|address already in use/i;

/**
 * `preferred`: this number or, if it is taken, the next free one. `fixed`: this one or an error. `any`: a random one.
 */
export type PortRequest = { preferred: number } | { fixed: number } | 'any';

/**
 * A port that is free when the promise settles. Until this process ends, no other that asks here is given it, and
 * neither is this one, but as `fixed`. Whoever does not ask here may still take it: see `startOnPort`.
 */
export async function choosePort(request: PortRequest, purpose: string): Promise<number> {
  if (request === 'any') {
    return chooseAny(purpose);
  }
  if ('fixed' in request) {
    return requirePort(request.fixed, purpose);
  }
  for (let port = request.preferred; port < request.preferred + neighboursMax && port < 65_536; port += 1) {
    // One after the other: the lowest free port wins.
    if (await take(port)) {
      return port;
    }
  }
  return chooseAny(purpose);
}

/**
 * Starts something on a port of its own. If it fails because an address is in use, another program was faster: it is
 * started anew, on another port unless the port is fixed, four times at most.
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
    `No port for ${purpose}: ${neighboursMax} between ${anyPort.from} and ${anyPort.below} were tried, and none can be bound.`,
  );
}

async function requirePort(port: number, purpose: string): Promise<number> {
  // Who names a port knows whose it is: a server is restarted on its own.
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

/** Whether the port is free and nobody else's choice; it is reserved then. */
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
 * Reserves a port for this process by the UDP port of the same number: one process alone can have it, the server can
 * bind the TCP port beside it, and the system frees it with the process, however that ends. Undefined: it is taken.
 */
function reserve(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    // Where such sockets are forbidden nothing is reserved.
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
