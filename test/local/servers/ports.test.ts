import { createServer, type Server } from 'node:net';

import { afterEach, expect, it } from 'vitest';

import { choosePort } from '../../../src/local/servers/ports.ts';
import { waitUntil } from '../../support/processes.ts';
import { runProgram } from './programs/run-program.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
  }
});

async function takenPort(): Promise<number> {
  const port = await choosePort('any', 'a test');
  await new Promise<void>((resolve, reject) => {
    const server = createServer();
    servers.push(server);
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve());
  });
  return port;
}

it('any port is outside the range that outgoing connections may use', async () => {
  for (let round = 0; round < 100; round += 1) {
    const port = await choosePort('any', 'a test');
    expect(port).toBeGreaterThan(1_024);
    // The lowest ephemeral port on Linux. On other systems, these ports start higher.
    expect(port).toBeLessThan(32_768);
  }
});

it('a preferred port is chosen unless another running process has chosen it', async () => {
  await waitUntil('the port is chosen', async () => {
    const other = await runProgram(new URL('./programs/choose-port.ts', import.meta.url));
    const port = Number(other.line);
    const next = await choosePort({ preferred: port }, 'a test');
    expect(next).toBeGreaterThan(port);
    await other.kill();
    return (await choosePort({ preferred: port }, 'a test')) === port;
  });
});

it('a chosen port is not chosen again, even before anything has bound it', async () => {
  const port = await choosePort('any', 'a test');
  expect(await choosePort({ preferred: port }, 'a test')).toBeGreaterThan(port);
  expect(await choosePort({ fixed: port }, 'a test')).toBe(port);
});

it('if a preferred port is taken, a later one is chosen', async () => {
  const port = await takenPort();
  expect(await choosePort({ preferred: port }, 'a test')).not.toBe(port);
});

it('a fixed port that is taken is an error that names the port and its purpose', async () => {
  const port = await takenPort();
  await expect(choosePort({ fixed: port }, 'the API')).rejects.toThrow(
    `Port ${port} for the API is in use: free it or choose another.`,
  );
});
