import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '../../src/api.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore } from '../../src/compose/core.ts';
import { tasksQueue } from '../../src/base/queues.ts';
import { ledgerCollection } from '../../src/ledger/collection.ts';
import { readLedgerTotals } from '../../src/ledger/totals.ts';
import { resolveTemporal } from '../../src/local/servers/temporal-source.ts';
import { createLogger } from '../../src/observability/log.ts';
import { takeCensus } from '../../src/observability/take-census.ts';
import { startWorker } from '../../src/worker.ts';
import { cacheDir } from '../support/cache-dir.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { caller, type TestAccount } from '../support/client.ts';
import { startGateway, videoBody, type TestGateway } from '../support/gateway.ts';
import { startForwarder, type Forwarder } from '../support/forwarder.ts';
import { temporalAddress } from '../support/run-servers.ts';
import { attendedYaml } from '../support/test-yaml.ts';
import { concernSignal } from '../../workflows/messages.ts';
import { runLine, runPlanned } from './support.ts';

/**
 * For each state that needs an operator, checks that it appears in the alerts' metrics, the list, `tasks show` and the
 * notices. Also checks that the advised command resolves it.
 */
const itemOf = (id: string) =>
  new RegExp(`^ {2}- id: ${id}\\n(?: {4}.*\\n)+`, 'm').exec(attendedYaml)?.[0] ?? '';
const yaml = `${attendedYaml}results: { storage: directory, directory: results }
`.replace(
  '\nmodels:',
  `
  - id: main
    provider: dashscope
    base_url: \${SIMULATOR_URL}/dashscope/api/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models: { wan: { upstream: wan2.6-t2v } }
${itemOf('ark').replace('id: ark', 'id: confused').replace('SIMULATOR_URL', 'CONFUSED_URL').replace('seedance:', 'twice:')}models:
${itemOf('wan').replace('id: wan', 'id: twice')}`,
);

let directory: string;
let confused: Forwarder;
let gateway: TestGateway;
let account: TestAccount;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-walk-'));
  let first: string | undefined;
  const rename = (text: string) => text.replace(/"id":"cgt-[^"]+"/, (job) => (first ??= job));
  confused = await startForwarder(() => gateway.simulatorUrl, { rewrite: rename });
  process.env['CONFUSED_URL'] = confused.url;
  gateway = await startGateway({ yaml, environment: { DATA_DIR: directory } });
  account = await gateway.account();
  await gateway.core.notices.stop();
});
afterAll(async () => {
  await gateway.stop();
  await confused.close();
  await rm(directory, { recursive: true, force: true });
});

const cli = (...line: string[]) => runLine(gateway, line, { token: gateway.adminToken });
const json = async (...line: string[]) => JSON.parse((await cli(...line, '-o', 'json')).text);
const noticesOf = async (state: string): Promise<string[]> =>
  (await json('notices', 'list', '--state', state)).map(({ id }: { id: string }) => id);

async function measured(line: string): Promise<boolean> {
  const { core } = gateway;
  const ledgerTotals = () => readLedgerTotals(ledgerCollection(core.mongo.db));
  core.metrics.showCensus(await takeCensus({ ...core, ledgerTotals }));
  return (await core.metrics.render()).split('\n').includes(line);
}

async function look(times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) await gateway.core.notices.run();
}

async function type(command: string): Promise<void> {
  const [program, ...words] = command.replace(/ --reason "…"$/, '').split(' ');
  const line = [...words, '--reason', 'as advised'];
  if (program === 'gateway')
    expect((await runPlanned(gateway, line, { token: gateway.adminToken })).status).toBe(0);
  else await promisify(execFile)(await temporal(), [...line, '--address', temporalAddress()]);
}

const temporal = async () =>
  await resolveTemporal({ dataDir: cacheDir, report: () => {}, environment: process.env });

/**
 * The new workflow continues from the record. If the deadline has passed, the task then expires. Otherwise, `fail` ends
 * it.
 */
const reset = 'temporal workflow reset -w ID --type FirstWorkflowTask --reapply-exclude All --reason "…"';

interface Walk {
  readonly reason: string;
  readonly advised: string;
  readonly end: string;
}

async function walk(id: string, { reason, advised, end }: Walk): Promise<void> {
  const listed = async () =>
    (await json('tasks', 'list', '--needs-attention')).find((task: { id: string }) => task.id === id);
  await expect.poll(async () => (await listed())?.needs_attention).toBe(reason);
  const { situation, channel } = await listed();
  const notice = `attention/${reason}${channel === null ? '' : `/${channel}`}`;
  const act = situation.actions.find(({ name }: { name: string }) => name === advised);
  const command: string = act?.command ?? advised;
  expect((await cli('tasks', 'show', id)).text).toContain(command);
  expect(await measured(`mediary_tasks_attention{reason="${reason}"} 1`)).toBe(true);
  await look(1);
  expect(await noticesOf('open')).toContain(notice);

  await type(command.replace(' ID ', ` ${id} `));
  if (advised === reset && reason !== 'workflow_overdue')
    await type(`gateway tasks action ${id} fail --reason "…"`);
  expect(await account.finished(id)).toMatchObject({ status: end });
  await expect.poll(listed).toBeUndefined();
  expect(await measured(`mediary_tasks_attention{reason="${reason}"} 0`)).toBe(true);
  await look(8);
  expect(await noticesOf('open')).not.toContain(notice);
  expect(await noticesOf('over')).toContain(notice);
}

it.each([
  {
    reason: 'submit_ambiguous',
    model: 'wan',
    mark: '[sim:create:accepted-500]',
    advised: 'fail',
    end: 'failed',
  },
  {
    reason: 'charge_review',
    model: 'seedance',
    mark: '[sim:usage-above=20]',
    advised: 'accept_charge',
    end: 'succeeded',
  },
  {
    reason: 'poll_failing',
    model: 'seedance',
    mark: '[sim:poll:401][sim:never-starts][sim:callback-never]',
    advised: 'fail',
    end: 'failed',
  },
  {
    reason: 'overdue',
    model: 'seedance',
    mark: '[sim:never-finishes]',
    laterMs: 2 * 60_000,
    advised: 'fail',
    end: 'failed',
  },
  {
    reason: 'poll_failed',
    model: 'seedance',
    mark: '[sim:vanishes]',
    laterMs: 6 * 60_000,
    advised: 'fail',
    end: 'failed',
  },
])('$reason is visible everywhere, and `$advised` ends it', async ({ model, mark, laterMs = 0, ...step }) => {
  const id = await account.made({ model, prompt: `a boat ${mark}` });
  if (laterMs > 0) {
    await expect.poll(() => upstreamIdOf(id)).toEqual(expect.any(String));
    gateway.clock.aheadMs += laterMs;
  }
  await walk(id, step);
});

const upstreamIdOf = async (id: string) => (await gateway.admin('GET', `/tasks/${id}`)).body.upstream_id;

it('channel_gone is visible everywhere once a reload removed its channel, and `fail` ends it', async () => {
  const id = await account.made({ model: 'wan', prompt: 'a boat [sim:never-finishes]' });
  await expect.poll(() => upstreamIdOf(id)).toEqual(expect.any(String));
  const path = gateway.environment['GATEWAY_CONFIG'] ?? '';
  await writeFile(path, yaml.replace(/^ {2}- id: main\n(?: {4}.*\n)+/m, ''));
  expect((await cli('config', 'reload', '--reason', 'the contract ends')).status).toBe(0);
  await gateway.reconcile();
  await walk(id, { reason: 'channel_gone', advised: 'fail', end: 'failed' });
  await writeFile(path, yaml);
  expect((await cli('config', 'reload', '--reason', 'signed again')).status).toBe(0);
});

it('no_worker is visible everywhere once the only worker of a channel has ended, and `fail` ends it', async () => {
  const file = join(directory, 'left.yaml');
  const channel = /^ {2}- id: main\n(?: {4}.*\n)+/m.exec(yaml)?.[0] ?? '';
  const left = channel
    .replace('id: main', 'id: left')
    .replace('api_key: simulated', 'api_key: "${LEFT_KEY}"');
  await writeFile(file, yaml.replace(channel, left));
  const core = await openCore(
    readEnvironment({ ...gateway.environment, GATEWAY_CONFIG: file }),
    createLogger({ level: 'silent', format: 'json' }),
    { databaseNow: gateway.core.now, variables: { ...process.env, LEFT_KEY: 'simulated' } },
  );
  await core.notices.stop();
  const [api, worker] = [await startApi(core), await startWorker(core)];
  const other = caller(api.url, account.key);
  const video = { ...videoBody, model: 'wan', prompt: 'a boat [sim:never-finishes]' };
  let id = '';
  const create = async () => {
    const { status, body } = await other('POST', '/v1/videos/generations', { body: video });
    id = body.id;
    return status;
  };
  await expect.poll(create).toBe(200);
  await expect.poll(() => upstreamIdOf(id)).toEqual(expect.any(String));
  await worker.stop();
  await gateway.reconcile();
  await gateway.reconcile();
  await walk(id, { reason: 'no_worker', advised: 'fail', end: 'failed' });
  await api.stop();
  await core.close();
  expect((await cli('config', 'reload', '--reason', 'back')).status).toBe(0);
});

it('upstream_id_taken is visible everywhere once an upstream returns a job of another task, and `fail` ends it', async () => {
  const create = () => account.made({ model: 'twice' });
  expect(await account.finished(await create())).toMatchObject({ status: 'succeeded' });
  await walk(await create(), { reason: 'upstream_id_taken', advised: 'fail', end: 'failed' });
});

it('not_delivered is visible everywhere once the last attempt to copy a result failed, and `refund` ends it', async () => {
  const storage = gateway.core.results.kept?.storage;
  if (storage === undefined) throw new Error('results are not kept');
  storage.write = () => Promise.reject(new Error('no space left on device'));
  const id = await account.made();
  await account.finished(id);
  const waitsFor = async () => (await gateway.admin('GET', `/tasks/${id}`)).body.needs_attention;
  for (let tries = 0; tries < 12 && (await waitsFor()) === null; tries += 1) {
    gateway.clock.aheadMs += 12 * 3_600_000;
    await gateway.reconcile();
  }
  expect(await waitsFor()).toBe('not_delivered');
  await walk(id, { reason: 'not_delivered', advised: 'refund', end: 'succeeded' });
});

it('an abandoned callback is visible everywhere, even while `redeliver` fails, until it is delivered', async () => {
  const answers = [410, 500];
  const receiver = await startCallbackReceiver(answers);
  try {
    const id = await account.made({ metadata: { callback_url: receiver.url } });
    await account.finished(id);
    const listed = async (option = '--callback-failed') =>
      (await json('tasks', 'list', option)).map((task: { id: string }) => task.id);
    await expect.poll(() => listed()).toEqual([id]);
    expect(await measured('mediary_callbacks{state="abandoned"} 1')).toBe(true);
    await look(1);
    expect(await noticesOf('open')).toContain('callbacks_abandoned/all');
    await type(`gateway tasks action ${id} redeliver --reason "…"`);
    await expect.poll(() => listed('--callback-failing')).toEqual([id]);
    expect(await listed()).toEqual([]);
    expect(await measured('mediary_callbacks{state="failing"} 1')).toBe(true);
    answers.push(204);
    await type(`gateway tasks action ${id} redeliver --reason "…"`);
    await expect.poll(() => listed('--callback-failing')).toEqual([]);
    for (const state of ['abandoned', 'failing'])
      expect(await measured(`mediary_callbacks{state="${state}"} 0`)).toBe(true);
    await look(8);
    expect(await noticesOf('over')).toContain('callbacks_abandoned/all');
  } finally {
    await receiver.close();
  }
});

describe('a task whose workflow has a step that no worker here knows', () => {
  let worker: Awaited<ReturnType<typeof startWorker>> | undefined;
  const stop = async () => {
    await worker?.stop();
    worker = undefined;
  };
  afterEach(stop);

  async function createAhead(): Promise<string> {
    const { client, environment } = gateway.core;
    const asked = { namespace: client.options.namespace, identity: 'a newer worker' };
    worker = await startWorker(gateway.core);
    const id = await account.made({ prompt: 'a boat [sim:create:503]' });
    const state = async () => (await gateway.core.stores.tasks.find(id))?.state.at;
    await expect.poll(state).not.toBe('creating');
    await stop();
    const { raw } = await client.workflow.getHandle(id).describe();
    for (const { activityId } of raw.pendingActivities ?? [])
      await client.workflowService.pauseActivity({
        ...asked,
        execution: { workflowId: id },
        id: activityId ?? '',
      });
    await client.workflow.getHandle(id).signal(concernSignal, null);
    const taskQueue = { name: tasksQueue(environment.TASK_QUEUE_PREFIX) };
    for (let began = ''; began !== id;) {
      const { taskToken, workflowExecution } = await client.withDeadline(Date.now() + 60_000, () =>
        client.workflowService.pollWorkflowTaskQueue({ ...asked, taskQueue }),
      );
      began = workflowExecution?.workflowId ?? '';
      const commands = [{ commandType: startTimer, startTimerCommandAttributes: shortTimer }];
      if (began === id)
        await client.workflowService.respondWorkflowTaskCompleted({ ...asked, taskToken, commands });
    }
    worker = await startWorker(gateway.core);
    return id;
  }
  const startTimer = 3;
  const shortTimer = { timerId: 'newer', startToFireTimeout: { nanos: 1_000_000 } };

  async function seen(id: string): Promise<unknown> {
    await gateway.reconcile();
    return (await gateway.admin('GET', `/tasks/${id}`)).body.needs_attention;
  }

  it('is workflow_failing everywhere, and continues after `temporal workflow reset`', async () => {
    await gateway.stopWorker();
    const id = await createAhead();
    await expect.poll(() => seen(id)).toBe('workflow_failing');
    await walk(id, { reason: 'workflow_failing', advised: reset, end: 'failed' });
  });

  it('is workflow_overdue everywhere once its deadline has passed, and continues after `temporal workflow reset`', async () => {
    const id = await createAhead();
    gateway.clock.aheadMs += 2 * 86_400_000 + 11 * 60_000;
    expect(await seen(id)).toBe('workflow_overdue');
    await walk(id, { reason: 'workflow_overdue', advised: reset, end: 'failed' });
  });
});
