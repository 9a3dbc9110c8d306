import { once } from 'node:events';
import { createServer } from 'node:net';
import { systemCodeOf } from '../base/caught.ts';
import { ConfigError } from './config-error.ts';
import type { Environment } from './environment.ts';

type PortName = 'PORT' | 'METRICS_PORT';

/** Throws ConfigError if a port cannot be bound. Call this before anything is changed. */
export async function checkListening(environment: Environment, names: readonly PortName[]): Promise<void> {
  const { HOST, PORT, METRICS_PORT } = environment;
  if (names.includes('PORT') && PORT !== 0 && PORT === METRICS_PORT)
    throw new ConfigError('The environment', [`METRICS_PORT: ${PORT} is already the port of the API (PORT)`]);
  const violations: string[] = [];
  for (const name of names) {
    const port = environment[name];
    if (port !== undefined) violations.push(...(await tryPort(HOST, name, port)));
  }
  if (violations.length > 0) throw new ConfigError('The environment', [...new Set(violations)]);
}

async function tryPort(host: string, name: PortName, port: number): Promise<string[]> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return [];
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'EADDRINUSE') return [`${name}: ${port} on ${host} is in use (${code})`];
    if (code === 'EACCES') return [`${name}: this user is not allowed to use ${port} (${code})`];
    return [`HOST: ${host} is not one of this machine’s addresses or names (${code})`];
  }
}
