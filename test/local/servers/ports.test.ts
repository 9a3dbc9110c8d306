import { createServer, type Server } from 'node:net';

import { afterEach, expect, it } from 'vitest';

import { choosePort } from '../../../src/local/servers/ports.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
  }
});

function occupy(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    servers.push(server);
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve());
  });
}

it('any port is none that an outgoing connection may have when its server binds it', async () => {
  for (let round = 0; round < 100; round += 1) {
    const port = await choosePort('any', 'a test');
    expect(port).toBeGreaterThan(1_024);
    // The lowest of Linux; those of other systems are above it.
    expect(port).toBeLessThan(32_768);
  }
});

it('a preferred port that is free is chosen', async () => {
  const port = await choosePort('any', 'a test');
  expect(await choosePort({ preferred: port }, 'a test')).toBe(port);
});

it('a preferred port that is taken gives way to a later one', async () => {
  const port = await choosePort('any', 'a test');
  await occupy(port);
  expect(await choosePort({ preferred: port }, 'a test')).not.toBe(port);
});

it('a fixed port that is taken is an error that names it and its purpose', async () => {
  const port = await choosePort('any', 'a test');
  await occupy(port);
  await expect(choosePort({ fixed: port }, 'the API')).rejects.toThrow(
    `Port ${port} for the API is in use: free it or choose another.`,
  );
});

it('a fixed port that is free is itself', async () => {
  const port = await choosePort('any', 'a test');
  expect(await choosePort({ fixed: port }, 'a test')).toBe(port);
});
