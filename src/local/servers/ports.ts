import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

import { systemCodeOf } from '../../domain/caught.ts';
import { LocalServerError } from './local-options.ts';

const loopback = '127.0.0.1';
const neighboursMax = 50;
/** Below what systems give to outgoing connections: one of those could have taken the port when its server binds it. */
const anyPort = { from: 15_000, below: 32_000 } as const;

/**
 * `preferred`: this number or, if it is taken, the next free one. `fixed`: this one or an error. `any`: a
 * random one. The port is free when the promise settles; nothing reserves it until the server binds it.
 */
export type PortRequest = { preferred: number } | { fixed: number } | 'any';

export async function choosePort(request: PortRequest, purpose: string): Promise<number> {
  if (request === 'any') {
    return chooseAny();
  }
  if ('fixed' in request) {
    return requirePort(request.fixed, purpose);
  }
  for (let port = request.preferred; port < request.preferred + neighboursMax && port < 65_536; port += 1) {
    // One after the other: the lowest free port wins.
    if (await isPortFree(port)) {
      return port;
    }
  }
  return chooseAny();
}

async function chooseAny(): Promise<number> {
  for (let attempt = 1; attempt <= neighboursMax; attempt += 1) {
    const port = randomInt(anyPort.from, anyPort.below);
    if (await isPortFree(port)) {
      return port;
    }
  }
  return bindOnce(0);
}

async function requirePort(port: number, purpose: string): Promise<number> {
  try {
    return await bindOnce(port);
  } catch (error) {
    const reason =
      systemCodeOf(error) === 'EADDRINUSE' ? 'is in use' : `cannot be bound (${systemCodeOf(error)})`;
    throw new LocalServerError(`Port ${port} for ${purpose} ${reason}: free it or choose another.`, {
      cause: error,
    });
  }
}

async function isPortFree(port: number): Promise<boolean> {
  return bindOnce(port).then(
    () => true,
    () => false,
  );
}

function bindOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: loopback, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve(bound));
    });
  });
}
