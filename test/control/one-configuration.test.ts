import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startApi } from '../../src/api.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore } from '../../src/compose/core.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startGateway, testYaml, videoBody, type TestGateway } from '../support/gateway.ts';
import { adminCaller, makeAccount } from '../support/client.ts';
import { startGatewayProcess, waitUntil } from '../support/processes.ts';
import { runLine } from '../cli/support.ts';
import { startWorker } from '../../src/worker.ts';

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

/** A reload returns after at most five seconds, even if a busy process has not reported yet. */
const nodes = async (): Promise<any[]> => (await gateway.admin('GET', '/nodes')).body.data;

async function openSecond(
  text: string,
  variables: NodeJS.ProcessEnv = { ...process.env },
  more: NodeJS.ProcessEnv = {},
) {
  const path = join(directory, 'second.yaml');
  await write(text, path);
  const environment = readEnvironment({ ...gateway.environment, GATEWAY_CONFIG: path, ...more });
  const logs: string[] = [];
  const log = createLogger({
    level: 'info',
    format: 'json',
    destination: { write: (line) => void logs.push(line) },
  });
  const core = await openCore(environment, log, { variables });
  const api = await startApi(core);
  undo.push(async () => {
    await api.stop();
    await core.close();
  });
  return { core, logs, url: api.url, admin: adminCaller(api.url, gateway.adminToken) };
}

it('a task whose channel lost its worker shows that everywhere, and continues with the next worker', async () => {
  const variables = { ...process.env, LEFT_KEY: 'simulated' };
  // The worker of the first gateway lacks the variable, so it cannot load this configuration.
  const second = await openSecond(withModel('left', '"${LEFT_KEY}"'), variables);
  const { url, admin } = second;
  const cli = (...line: string[]) => runLine({ url }, line, { token: gateway.adminToken });
  const reasonsAsked = async () =>
    JSON.parse((await cli('tasks', 'list', '--needs-attention', '-o', 'json')).text).map(
      ({ id, situation }: any) => [id, situation.waits_for],
    );
  const serving = await startWorker(second.core);
  const served = async () => (await admin('GET', '/nodes')).body.data;
  await expect.poll(served).toContainEqual(expect.objectContaining({ channels: ['ark', 'more'] }));
  const account = await makeAccount({ url, admin, video: videoBody });
  const { id } = (await account.create({ model: 'left', prompt: 'a boat [sim:render=3600]' })).body;
  const situation = async () => (await admin('GET', `/tasks/${id}`)).body.situation;
  await expect.poll(situation).toMatchObject({ waits_for: 'job' });
  await serving.stop();
  const stopped = Date.now() / 1000;

  await expect.poll(situation).toMatchObject({ waits_for: 'no_worker', attention: null });
  expect(Math.abs((await situation()).since - stopped)).toBeLessThan(600);
  const shown = (await cli('tasks', 'show', id)).text;
  expect(shown).toContain('No running worker serves more.');
  expect(shown).toContain('`gateway nodes`');
  expect((await cli('tasks', 'list')).text).toMatch(new RegExp(`${id} .* no_worker `));
  await expect.poll(async () => (await cli('nodes')).text).toContain('the variable LEFT_KEY is not set');
  expect(await reasonsAsked()).toEqual([]);
  await gateway.reconcile();
  await gateway.reconcile();
  expect(await reasonsAsked()).toEqual([[id, 'no_worker']]);

  const next = await startWorker(second.core);
  undo.push(() => next.stop());
  gateway.simulator.advance(3600);
  expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
});

it('all processes load what one of them publishes, and serve its new channel at once', async () => {
  const second = await openSecond(testYaml);
  const worker = startGatewayProcess('worker', gateway.environment, join(directory, 'worker.log'));
  undo.push(() => worker.kill());
  await worker.logged('"started"');
  const before = (await gateway.admin('GET', '/config')).body;
  await write(withModel('fresh'));
  const { status, body } = await gateway.admin('POST', '/config/reload');
  expect([status, body.version]).toEqual([200, before.version + 1]);
  const channels = ['ark', 'more'];
  await expect
    .poll(async () => (await nodes()).map((node) => [node.kind, node.config, node.channels]))
    .toEqual([
      ['api', body.version, null],
      ['api', body.version, null],
      ['worker', body.version, channels],
      ['worker', body.version, channels],
    ]);
  expect((await second.admin('GET', '/config')).body.hash).toBe(body.hash);
  const account = await gateway.account();
  const created = await account.create({ model: 'fresh' });
  expect(await account.finished(created.body.id)).toMatchObject({ status: 'succeeded' });
});

it('SIGHUP to a worker publishes for all processes, and a file with mistakes is never published', async () => {
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
  await expect.poll(() => gateway.core.runningConfig.state()).toMatchObject({ version: version + 1 });
  expect((await gateway.admin('GET', '/config')).body.published_by).toBe('signal');
  await expect
    .poll(async () => (await gateway.admin('GET', '/audit?by=signal')).body.data)
    .toMatchObject([
      { action: 'reloadConfig', via: 'signal', outcome: 'done' },
      {
        action: 'reloadConfig',
        via: 'signal',
        outcome: 'refused',
        result: expect.stringContaining('models'),
      },
    ]);
});

it('a process that cannot load the published configuration says so, and keeps the one it runs', async () => {
  await write(testYaml);
  const variables = { ...process.env };
  const second = await openSecond(`${testYaml}\n# of its own\n`, variables);
  const before = second.core.config().hash;
  process.env['NEW_KEY'] = 'simulated';
  await write(withModel('secret', '"${NEW_KEY}"'));
  const { body } = await gateway.admin('POST', '/config/reload');
  expect(body.published_on).toBe(gateway.core.node);
  const reasons = [expect.stringContaining('the variable NEW_KEY is not set')];
  await expect
    .poll(async () => (await nodes()).find(({ id }) => id === `api/${second.core.node}`))
    .toMatchObject({ config_hash: before, refused: { config: body.version, reasons } });
  expect(second.core.config().hash).toBe(before);
  expect(gateway.core.config().channels.map(({ id }) => id)).toEqual(['ark', 'more']);
  delete process.env['NEW_KEY'];
});

it('a new file that a start publishes for all is in the audit log, and a reload there has its reason', async () => {
  const second = await openSecond(withModel('started'));
  const act = { action: 'reloadConfig', outcome: 'done' };
  const starts = (await gateway.admin('GET', '/audit?by=start')).body.data;
  expect(starts[0]).toMatchObject({ ...act, via: 'start', target: second.core.node });
  await write(withModel('reloaded'));
  const { status } = await runLine(gateway, ['config', 'reload', '--reason', 'new prices'], {
    token: gateway.adminToken,
  });
  expect(status).toBe(0);
  const [reload] = (await gateway.admin('GET', '/audit')).body.data;
  expect(reload).toMatchObject({ ...act, by: 'admin', reason: 'new prices' });
  expect(reload.changes.map(({ path, kind }: any) => [path, kind])).toEqual(
    expect.arrayContaining([
      ['models.started', 'removed'],
      ['models.reloaded', 'added'],
    ]),
  );
});

it('a published version stays known, however often another one was published since', async () => {
  const { configurations } = gateway.core.stores;
  for (let n = 0; n < 210; n += 1) {
    const hash = `hash-${n}`;
    await configurations.publish({
      text: testYaml.concat(`# ${n}\n`),
      hash,
      currency: 'USD',
      by: 'ada',
      node: 'n',
      at: 0,
    });
  }
  const { version } = (await configurations.head()) ?? expect.fail();
  const second = await openSecond(testYaml);
  expect(second.core.runningConfig.state()).toMatchObject({ version, hash: 'hash-209' });
});

it('two simultaneous publications are both active for a while, and both stay known', async () => {
  const { configurations } = gateway.core.stores;
  const { version } = (await configurations.head()) ?? expect.fail();
  const hashes = Array.from({ length: 8 }, (_, n) => `race-${n}`);
  const texts = hashes.map((hash) => ({
    text: testYaml,
    hash,
    currency: 'USD',
    by: 'ada',
    node: 'n',
    at: 0,
  }));
  const heads = await Promise.all(texts.map((text) => configurations.publish(text)));
  expect(heads.map((head) => head.version).toSorted((a, b) => a - b)).toEqual(
    hashes.map((_, n) => version + 1 + n),
  );
  for (const hash of hashes) expect(await configurations.wasPublished(hash)).toBe(true);
});

it('only a listener that failed is called again, and the text is read and parsed once', async () => {
  const second = await openSecond(testYaml);
  const taken = second.logs.filter((line) => line.includes('configuration was loaded')).length;
  const calls = { failing: 0, other: 0 };
  second.core.runningConfig.onChange(async () => {
    calls.failing += 1;
    if (calls.failing < 3) throw new Error('not yet');
  });
  second.core.runningConfig.onChange(async () => void (calls.other += 1));
  await write(withModel('heard'));
  await gateway.admin('POST', '/config/reload');
  await expect.poll(() => calls.failing).toBe(3);
  await second.core.runningConfig.refresh();
  expect(calls).toEqual({ failing: 3, other: 1 });
  expect(second.logs.filter((line) => line.includes('configuration was loaded'))).toHaveLength(taken + 1);
  expect(second.core.config().models.some(({ id }) => id === 'heard')).toBe(true);
});

it('a start with an old copy of the file runs the published one, and a reload restores the old one', async () => {
  await write(withModel('newest'));
  const { body } = await gateway.admin('POST', '/config/reload');
  const second = await openSecond(testYaml);
  expect(second.core.runningConfig.state()).toEqual({ version: body.version, hash: body.hash });
  const back = (await second.admin('POST', '/config/reload')).body;
  expect(back.version).toBe(body.version + 1);
  await expect.poll(() => gateway.core.config().models.some(({ id }) => id === 'newest')).toBe(false);
  expect((await second.admin('POST', '/config/reload')).body.version).toBe(back.version);
});

it('the currency of accounts with money cannot change: not by a reload, a dry run or a start', async () => {
  const other = testYaml.replace('currency: USD', 'currency: JPY');
  const second = await openSecond(`${testYaml}# in USD\n`);
  const before = (await second.admin('GET', '/config')).body.hash;
  const path = join(directory, 'second.yaml');
  await write(other, path);
  const { available } = await gateway.core.ledger.balance((await gateway.account()).id);
  expect(available).toBeGreaterThan(0n);
  const sentence = 'currency: the accounts in this database use USD, which cannot be changed to JPY.';
  for (const dry_run of [true, false]) {
    const { status, body } = await second.admin('POST', '/config/reload', { dry_run });
    expect([status, body.error.message]).toEqual([400, `The file was not loaded: ${sentence}`]);
  }
  const log = join(directory, 'other.log');
  const started = startGatewayProcess('api', { ...gateway.environment, GATEWAY_CONFIG: path }, log);
  expect(await started.ended).toBe(78);
  expect(await readFile(log, 'utf8')).toContain(`${path} has 1 problem(s):\n  ${sentence}`);
  expect((await second.admin('GET', '/config')).body.hash).toBe(before);
  expect(second.core.config().currency).toBe('USD');
});

it('the currency may change while nothing is in the ledger', async () => {
  const young = await startGateway({ worker: false });
  undo.push(() => young.stop());
  await write(testYaml.replace('currency: USD', 'currency: JPY'), young.environment['GATEWAY_CONFIG']);
  expect((await young.admin('POST', '/config/reload', { dry_run: true })).body.changes).toEqual([
    { path: 'currency', kind: 'changed', before: '"USD"', after: '"JPY"' },
  ]);
  expect((await young.admin('POST', '/config/reload')).status).toBe(200);
  const { key } = await young.account();
  expect((await young.call('GET', '/v1/balance', { key })).body).toMatchObject({ currency: 'JPY' });
});

it('a change of the result storage is published by a start only, and rejected by running processes', async () => {
  const kept = testYaml.concat('results: { storage: directory, directory: kept }\n');
  await write(kept);
  const { version } = (await gateway.admin('GET', '/config')).body;
  const sentence =
    'results: takes effect only at startup; restart every process with this file (if the file was published before, add a comment to it first) (results.storage "none" → "directory", results.directory "results" → "kept")';
  for (const dry_run of [true, false]) {
    const { status, body } = await gateway.admin('POST', '/config/reload', { dry_run });
    expect([status, body.error.message]).toEqual([400, `The file was not loaded: ${sentence}`]);
  }
  const second = await openSecond(kept, undefined, { DATA_DIR: directory });
  expect(second.core.runningConfig.state().version).toBe(version + 1);
  expect(second.core.results.kept).toBeDefined();
  await expect
    .poll(async () => (await nodes()).find(({ id }) => id === `api/${gateway.core.node}`))
    .toMatchObject({ config: version, refused: { config: version + 1, reasons: [sentence] } });
  expect(gateway.core.config().results.storage).toBe('none');

  const third = await openSecond(testYaml, undefined, { CONFIG_AT_START: 'always' });
  expect(third.core.runningConfig.state().version).toBe(version + 2);
  await expect.poll(() => gateway.core.runningConfig.state()).toEqual(third.core.runningConfig.state());
  expect(second.core.runningConfig.state()).toMatchObject({ version: version + 1 });
});
