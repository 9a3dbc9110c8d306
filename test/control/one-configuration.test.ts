import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { startApi } from '../../src/api.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore } from '../../src/core.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startGateway, testYaml } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { adminCaller } from '../support/client.ts';
import { startGatewayProcess, waitUntil } from '../support/processes.ts';

/** One configuration for all processes: two APIs and two workers, one of which is a process of its own. */
vi.setConfig({ testTimeout: 120_000 });

const takenWithinMs = 5_000;

let gateway: TestGateway;
let directory: string;
const undo: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-config-'));
  gateway = await startGateway();
});
afterEach(async () => {
  for (const end of undo.splice(0).toReversed()) await end();
});
afterAll(async () => {
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

/** The usual file with a second channel, `more`, and a model that only it serves. */
function withModel(model: string, key = 'simulated'): string {
  const channel = /^ {2}- id: ark\n(?: {4}.*\n)+/m.exec(testYaml)?.[0] ?? '';
  const entry = /^ {2}- id: seedance\n(?: {4}.*\n)+/m.exec(testYaml)?.[0] ?? '';
  return testYaml
    .replace(
      channel,
      channel +
        channel
          .replace('id: ark', 'id: more')
          .replaceAll('seedance:', `${model}:`)
          .replace('api_key: simulated', `api_key: ${key}`),
    )
    .replace(entry, entry + entry.replace('id: seedance', `id: ${model}`));
}

const write = (text: string, path = gateway.environment['GATEWAY_CONFIG'] ?? '') => writeFile(path, text);

async function openSecond(text: string, variables: NodeJS.ProcessEnv = { ...process.env }) {
  const path = join(directory, 'second.yaml');
  await write(text, path);
  const environment = readEnvironment({ ...gateway.environment, GATEWAY_CONFIG: path });
  const log = createLogger({ level: 'silent', format: 'json' });
  const core = await openCore(environment, log, { variables });
  const api = await startApi(core);
  undo.push(async () => {
    await api.stop();
    await core.close();
  });
  return { core, admin: adminCaller(api.url, gateway.adminToken) };
}

it('all processes take what one of them publishes, and serve its new channel at once', async () => {
  const second = await openSecond(testYaml);
  const worker = startGatewayProcess('worker', gateway.environment, join(directory, 'worker.log'));
  undo.push(() => worker.kill());
  await worker.logged('"started"');
  const before = (await gateway.admin('GET', '/config')).body;
  await write(withModel('fresh'));
  const { status, body } = await gateway.admin('POST', '/config/reload');
  expect([status, body.version]).toEqual([200, before.version + 1]);
  expect(body.nodes.map(({ kind, config }: any) => [kind, config])).toEqual([
    ['api', body.version],
    ['api', body.version],
    ['worker', body.version],
    ['worker', body.version],
  ]);
  for (const node of body.nodes) if (node.kind === 'worker') expect(node.channels).toEqual(['ark', 'more']);
  expect((await second.admin('GET', '/config')).body.hash).toBe(body.hash);
  const account = await gateway.account();
  const created = await account.create({ model: 'fresh' });
  expect(await account.finished(created.body.id)).toMatchObject({ status: 'succeeded' });
});

it('SIGHUP to a worker publishes for all; a file with mistakes is published by nobody', async () => {
  const path = join(directory, 'worker.yaml');
  await write(withModel('signalled'), path);
  const worker = startGatewayProcess(
    'worker',
    { ...gateway.environment, GATEWAY_CONFIG: path },
    join(directory, 'signalled.log'),
  );
  undo.push(() => worker.kill());
  await worker.logged('"started"');
  await waitUntil('the start publishes', async () =>
    gateway.core.config().models.some(({ id }) => id === 'signalled'),
  );
  const { version } = gateway.core.runningConfig.state();
  await write('models: 3', path);
  worker.signal('SIGHUP');
  await worker.logged('was not published');
  await write(withModel('again'), path);
  worker.signal('SIGHUP');
  await expect
    .poll(() => gateway.core.runningConfig.state(), { timeout: takenWithinMs })
    .toMatchObject({ version: version + 1 });
  expect((await gateway.admin('GET', '/config')).body.published_by).toBe('signal');
  const { data } = (await gateway.admin('GET', '/audit?by=signal')).body;
  expect(data).toMatchObject([
    { action: 'reloadConfig', via: 'signal', outcome: 'done' },
    { action: 'reloadConfig', via: 'signal', outcome: 'refused', result: expect.stringContaining('models') },
  ]);
});

it('a process that cannot load what was published says so, and keeps what it runs', async () => {
  await write(testYaml);
  const variables = { ...process.env };
  const second = await openSecond(`${testYaml}\n# of its own\n`, variables);
  const before = second.core.config().hash;
  process.env['NEW_KEY'] = 'simulated';
  await write(withModel('secret', '"${NEW_KEY}"'));
  const { body } = await gateway.admin('POST', '/config/reload');
  expect(body.published_on).toBe(gateway.core.node);
  const [refusing] = body.nodes.filter(({ id }: any) => id === `api/${second.core.node}`);
  expect(refusing).toMatchObject({
    config_hash: before,
    refused: { config: body.version, reasons: [expect.stringContaining('the variable NEW_KEY is not set')] },
  });
  expect(second.core.config().hash).toBe(before);
  expect(gateway.core.config().channels.map(({ id }) => id)).toEqual(['ark', 'more']);
  delete process.env['NEW_KEY'];
});

it('a start with an old copy of the file runs what is published; a reload brings the old one back', async () => {
  await write(withModel('newest'));
  const { body } = await gateway.admin('POST', '/config/reload');
  const second = await openSecond(testYaml);
  expect(second.core.runningConfig.state()).toEqual({ version: body.version, hash: body.hash });
  const back = (await second.admin('POST', '/config/reload')).body;
  expect(back.version).toBe(body.version + 1);
  expect(gateway.core.config().models.some(({ id }) => id === 'newest')).toBe(false);
  // Nothing is new about it.
  expect((await second.admin('POST', '/config/reload')).body.version).toBe(back.version);
});
