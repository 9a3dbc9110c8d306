import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { requireAddresses } from '../../src/config/addresses.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { choosePort } from '../../src/local/servers/ports.ts';
import { createTemporalClient, dataConverter, temporalSettings } from '../../src/temporal/connection.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'temporal-connection-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function file(name: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, `the ${name}`);
  return path;
}

const address = 'temporal.example:7233';
const settings = (variables: Record<string, string>) => {
  const environment = readEnvironment({
    MONGODB_URI: 'mongodb://mongo.example',
    TEMPORAL_ADDRESS: address,
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
    ...variables,
  });
  return temporalSettings(environment, requireAddresses(environment), undefined);
};

describe('the settings', () => {
  it('without any variable are an address without TLS', () => {
    expect(settings({})).toEqual({ address, namespace: 'default' });
  });

  it('with a key of Temporal Cloud', () => {
    expect(settings({ TEMPORAL_API_KEY: 'tmprl_1', TEMPORAL_NAMESPACE: 'studio.a1b2c' })).toEqual({
      address,
      namespace: 'studio.a1b2c',
      apiKey: 'tmprl_1',
    });
  });

  it('with certificates, which are read from their files', async () => {
    const found = settings({
      TEMPORAL_TLS_CERT: await file('cert'),
      TEMPORAL_TLS_KEY: await file('key'),
      TEMPORAL_TLS_CA: await file('ca'),
    });
    expect(found.tls).toEqual({
      clientCertPair: { crt: Buffer.from('the cert'), key: Buffer.from('the key') },
      serverRootCACertificate: Buffer.from('the ca'),
    });
  });

  it('with only an authority, for a server that asks for no certificate', async () => {
    const { tls } = settings({ TEMPORAL_TLS_CA: await file('ca') });
    expect(tls).toEqual({ serverRootCACertificate: Buffer.from('the ca') });
  });
});

it('payloads are encrypted exactly if there is a key', () => {
  expect(dataConverter(settings({}))).toEqual({});
  const payloadKey = randomBytes(32);
  expect(dataConverter({ ...settings({}), payloadKey }).payloadCodecs).toHaveLength(1);
});

it('a client of an unavailable server can be created, and fails when it is used', async () => {
  const client = createTemporalClient({ ...settings({}), address: '127.0.0.1:1' });
  await expect(
    client.withDeadline(Date.now() + 2_000, () => client.workflow.getHandle('task_1').describe()),
  ).rejects.toThrow();
  await client.connection.close();
});

it('no retry starts on a closed connection, however late its timer is set', async () => {
  const thrown: Error[] = [];
  const onThrown = (error: Error): void => void thrown.push(error);
  process.on('uncaughtExceptionMonitor', onThrown);
  const setTimer = globalThis.setTimeout;
  // Simulate a pause of the process between the decision to retry and the retry timer.
  const pausing = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
    ...args: Parameters<typeof setTimer>
  ) => {
    if (args[0].name === 'retry') spinFor(3);
    return setTimer(...args);
  }) as typeof setTimer);
  const port = await choosePort('any', 'nobody');
  const { workflowService, connection } = createTemporalClient({
    address: `127.0.0.1:${port}`,
    namespace: 'default',
  });
  try {
    const calls = Array.from({ length: 20 }, () =>
      workflowService.describeTaskQueue({ namespace: 'default', taskQueue: { name: 'none' } }).then(
        () => 'answered',
        () => 'failed',
      ),
    );
    await expect.poll(() => pausing.mock.calls.some(([callback]) => callback.name === 'retry')).toBe(true);
    await connection.close();
    expect(await Promise.all(calls)).toEqual(calls.map(() => 'failed'));
    // This is longer than any of the calls would wait.
    await delay(3_000);
  } finally {
    pausing.mockRestore();
    process.off('uncaughtExceptionMonitor', onThrown);
  }
  expect(thrown).toEqual([]);
});

function spinFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
