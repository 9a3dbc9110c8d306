import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { startOnPort } from '../../../src/local/servers/ports.ts';
import { startMongoServer } from '../../../src/local/servers/mongodb-server.ts';
import { resolveMongo, type MongoProgram } from '../../../src/local/servers/mongodb-source.ts';
import { startTemporalServer } from '../../../src/local/servers/temporal-server.ts';
import { resolveTemporal } from '../../../src/local/servers/temporal-source.ts';
import { startUiProxy } from '../../../src/local/servers/ui-proxy.ts';
import type { Started } from '../../../src/local/start-servers.ts';
import { startSimulator } from '../../../src/local/start-simulator.ts';
import { cacheDir } from '../../support/cache-dir.ts';
import { startPortTaker } from '../../support/port-taker.ts';
import { markServerUse } from '../../support/server-use.ts';
import { scratchOptions } from './scratch.ts';

/**
 * Between the choice of a port and its use, the port is taken by a program that accepts connections but never responds.
 */

it('Temporal starts on another port', async () => {
  markServerUse();
  const [taker, options] = await Promise.all([startPortTaker(), scratchOptions()]);
  const binary = await taker.before(await resolveTemporal({ ...options, dataDir: cacheDir }));
  const server = await startTemporalServer({ ...options, binary, port: 'any', uiPort: 'none' });
  onTestFinished(() => server.stop());
  expect(taker.taken).toEqual([expect.any(Number)]);
  expect(server.address).not.toBe(`127.0.0.1:${taker.taken[0]}`);
});

it('MongoDB starts on another port', async () => {
  const [taker, options] = await Promise.all([startPortTaker(), scratchOptions()]);
  const mongodBinary = process.env['MONGOD_BINARY'];
  const found = await resolveMongo({
    ...options,
    dataDir: cacheDir,
    ...(mongodBinary === undefined ? {} : { mongodBinary }),
  });
  const program: MongoProgram =
    found.kind === 'java'
      ? { ...found, java: await taker.before(found.java) }
      : { ...found, path: await taker.before(found.path) };
  const server = await startMongoServer({ ...options, program, programDir: cacheDir, port: 'any' });
  onTestFinished(() => server.stop());
  expect(taker.taken).toEqual([expect.any(Number)]);
  expect(new URL(server.uri).port).not.toBe(String(taker.taken[0]));
});

it('the simulator starts on another port', async () => {
  const [taker, options] = await Promise.all([startPortTaker(), scratchOptions()]);
  const started: Started = [];
  onTestFinished(async () => void (await Promise.all(started.map((one) => one.stop()))));
  const environment = { ...process.env, NODE_OPTIONS: taker.nodeOptions };
  const url = await startSimulator(20_000, { ...options, environment }, started);
  expect(taker.taken).toEqual([expect.any(Number)]);
  expect(new URL(url).port).not.toBe(String(taker.taken[0]));
  expect((await fetch(url)).status).toBe(404);
});

it('a server in this process starts on another port', async () => {
  const taken: number[] = [];
  const proxy = await startOnPort('any', 'a test', async (port) => {
    if (taken.length === 0) {
      taken.push(port);
      const other = createServer();
      onTestFinished(() => void other.close());
      await new Promise<void>((resolve) => void other.listen(port, '127.0.0.1', resolve));
    }
    return startUiProxy('http://127.0.0.1:1', port);
  });
  onTestFinished(() => proxy.stop());
  expect(new URL(proxy.url).port).not.toBe(String(taken[0]));
});

it('finding every port taken is an error eventually, and any other failure at once', async () => {
  let starts = 0;
  const start = (message: string) => () => {
    starts += 1;
    return Promise.reject(new Error(message));
  };
  await expect(startOnPort('any', 'a test', start('no disk'))).rejects.toThrow('no disk');
  expect(starts).toBe(1);
  await expect(startOnPort('any', 'a test', start('address already in use'))).rejects.toThrow('in use');
  expect(starts).toBe(5);
});
