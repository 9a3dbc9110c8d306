import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore } from '../../src/compose/core.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { connectMongo } from '../../src/store/mongo.ts';
import type { TaskDocument } from '../../src/store/task-document.ts';
import { choosePort } from '../../src/local/servers/ports.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startSimulator } from '../../workshop/simulator/simulator.ts';
import { createWorkflowLookup } from '../../src/temporal/workflow-lookup.ts';
import { adminCaller, makeAccount, persevere, type TestAccount } from '../support/client.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { testEnvironment, testYaml, videoBody } from '../support/gateway.ts';
import { startGatewayProcess, untilReady, waitUntil, type GatewayProcess } from '../support/processes.ts';
import { startMongo, startTemporal, type TestMongo, type TestTemporal } from '../support/servers.ts';

/**
 * Kills every process and server with SIGKILL while tasks are in flight. After a restart, each task must finish
 * correctly, with exactly one submission upstream and a ledger that adds up.
 */
describe('crashes', () => {
  const name = `f${randomBytes(4).toString('hex')}`;
  let directory: string;
  let temporal: TestTemporal;
  let mongo: TestMongo;
  let simulator: Awaited<ReturnType<typeof startSimulator>>;
  let environment: NodeJS.ProcessEnv;
  let api: GatewayProcess;
  let worker: GatewayProcess;
  let account: TestAccount;
  let url: string;

  const start = (role: 'api' | 'worker') =>
    startGatewayProcess(role, environment, join(directory, `${role}.log`));
  const ready = () => untilReady(url);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), `mediary-${name}-`));
    [temporal, mongo] = await Promise.all([
      startTemporal({ dir: join(directory, 'temporal') }),
      startMongo({ dir: join(directory, 'mongo') }),
    ]);
    simulator = await startSimulator({
      host: '127.0.0.1',
      port: 0,
      apiKeys: ['simulated'],
      renderSeconds: 3,
    });
    const config = join(directory, 'gateway.yaml');
    await writeFile(
      config,
      testYaml
        .replace('expected_seconds: 1', 'expected_seconds: 3')
        .replace('submit_ms: 10000', 'submit_ms: 60000'),
    );
    const port = await choosePort('any', 'the API');
    url = `http://127.0.0.1:${port}`;
    environment = await testEnvironment(name, {
      MONGODB_URI: mongo.uri.replace('/?', `/${name}?`),
      TEMPORAL_ADDRESS: temporal.address,
      GATEWAY_CONFIG: config,
      SIMULATOR_URL: simulator.url,
      ADMIN_TOKEN: randomBytes(16).toString('hex'),
      PORT: String(port),
    });
    process.env['SIMULATOR_URL'] = simulator.url;
    worker = start('worker');
    api = start('api');
    await ready();
    account = await makeAccount({
      url,
      admin: adminCaller(url, environment['ADMIN_TOKEN'] ?? ''),
      video: videoBody,
    });
  });

  afterAll(async () => {
    await Promise.all([api?.kill(), worker?.kill()]);
    await Promise.all([temporal?.stop(), mongo?.stop(), simulator?.close()]);
    await rm(directory, { recursive: true, force: true });
  });

  async function createTasks(
    label: string,
    count: number,
    mark = '',
  ): Promise<{ id: string; prompt: string }[]> {
    return Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const prompt = `${label}-${index}.`;
        const key = { 'idempotency-key': prompt };
        const created = await persevere(() => account.create({ prompt: prompt + mark }, key));
        expect(created.status).toBe(200);
        return { id: created.body.id, prompt };
      }),
    );
  }

  const rendering = ' [sim:render=30]';
  const finishRenders = () => simulator.control.advance(30);

  async function expectOnceAndPaid(tasks: readonly { id: string; prompt: string }[]): Promise<void> {
    for (const { id, prompt } of tasks) {
      expect(await account.finished(id, 200_000)).toMatchObject({ status: 'succeeded' });
      expect(simulator.control.submissions(prompt)).toEqual({ submits: 1, creates: 1 });
    }
    await expectSoundLedger();
  }

  async function expectSoundLedger(): Promise<void> {
    const core = await openCore(
      readEnvironment(environment),
      createLogger({ level: 'silent', format: 'json' }),
    );
    const running = new Set<string>();
    for await (const id of createWorkflowLookup(core.client, `${name}-`).running()) running.add(id);
    const holders = async (ids: readonly string[]) =>
      new Map(ids.filter((id) => running.has(id)).map((id) => [id, 'workflow'] as const));
    const report = await verifyLedger({
      db: core.mongo.db,
      key: core.secrets.deriveKey('ledger'),
      holders,
    });
    expect(report.violations).toEqual([]);
    await core.close();
  }

  async function attemptOf(task: string): Promise<unknown> {
    const mongo = await connectMongo(environment['MONGODB_URI'] ?? '');
    const found = await mongo.db.collection<TaskDocument>('tasks').findOne({ _id: task });
    await mongo.close();
    return found?.attempts[0];
  }

  const running = (id: string) =>
    waitUntil('the task is upstream', async () => {
      const { body } = await account.call('GET', `/v1/videos/generations/${id}`);
      return body.status === 'submitted' || body.status === 'running';
    });

  it('of the worker: its tasks resume in the next one, and a submission is found again, not repeated', async () => {
    const tasks = await createTasks('worker-crash', 5, rendering);
    for (const { id } of tasks) await running(id);
    // The upstream accepts the job but withholds its response for half a minute. The worker dies during that time.
    const created = await account.create({ prompt: 'mid-submit [sim:accepted-then-silent=30]' });
    await waitUntil(
      'the upstream has the job',
      async () => simulator.control.submissions('mid-submit').creates === 1,
    );
    await worker.kill();
    const attemptAtDeath = await attemptOf(created.body.id);
    expect(attemptAtDeath).toMatchObject({ state: 'sending', channel: 'ark' });
    expect(attemptAtDeath).not.toHaveProperty('endedAt');
    worker = start('worker');
    finishRenders();
    await expectOnceAndPaid(tasks);
    expect(await account.finished(created.body.id, 200_000)).toMatchObject({ status: 'succeeded' });
    expect(simulator.control.submissions('mid-submit')).toEqual({ submits: 1, creates: 1 });
    await expectSoundLedger();
  });

  it('of the worker between the end of a task and its callback: the next one delivers it', async () => {
    const receiver = await startCallbackReceiver([0, 204]);
    const { body } = await account.create({ metadata: { callback_url: receiver.url } });
    await receiver.waitFor(1);
    await worker.kill();
    expect((await account.call('GET', `/v1/videos/generations/${body.id}`)).body.status).toBe('succeeded');
    worker = start('worker');
    await receiver.waitFor(2, 200_000);
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([body.id, body.id]);
    await receiver.close();
    await expectSoundLedger();
  });

  it('of the API: its tasks continue without it', async () => {
    const tasks = await createTasks('api-crash', 5);
    await api.kill();
    api = start('api');
    await ready();
    await expectOnceAndPaid(tasks);
  });

  it('of both, and a create that is repeated with its Idempotency-Key is the same task', async () => {
    const headers = { 'idempotency-key': 'crash-1' };
    const prompt = 'both-crash.';
    const create = () => persevere(() => account.create({ prompt }, headers));
    const first = await create();
    await Promise.all([api.kill(), worker.kill()]);
    api = start('api');
    worker = start('worker');
    await ready();
    const again = await create();
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.body.id).toBe(first.body.id);
    await expectOnceAndPaid([{ id: first.body.id, prompt }]);
  });

  it('of the Temporal server', async () => {
    const tasks = await createTasks('temporal-crash', 5, rendering);
    await running(tasks[0]?.id ?? '');
    await temporal.kill();
    const refused = await account.create({ prompt: 'while-away.' });
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
    await temporal.restart();
    finishRenders();
    await expectOnceAndPaid(tasks);
    expect(simulator.control.submissions('while-away.').submits).toBe(0);
  });

  it('of MongoDB', async () => {
    const tasks = await createTasks('mongo-crash', 5, rendering);
    await running(tasks[0]?.id ?? '');
    await mongo.kill();
    await new Promise((resolve) => setTimeout(resolve, 3000));
    await mongo.restart();
    finishRenders();
    await expectOnceAndPaid(tasks);
  });

  it('of MongoDB, which freezes for longer than a create waits: creates that got 503 left nothing', async () => {
    process.kill(mongo.pid, 'SIGSTOP');
    const away = Array.from({ length: 12 }, (_, n) => account.create({ prompt: `standstill-${n}.` }));
    await new Promise((resolve) => setTimeout(resolve, 45_000));
    process.kill(mongo.pid, 'SIGCONT');
    const answers = await Promise.all(away);
    // The freeze must have affected some of the creates. Otherwise, this test proves nothing.
    expect(answers.some(({ status }) => status === 503)).toBe(true);
    expect(answers.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
    const created = answers.flatMap(({ status, body }) => (status === 200 ? [body.id as string] : []));
    for (const id of created)
      expect(await account.finished(id, 200_000)).toMatchObject({ status: 'succeeded' });
    await waitUntil(
      'nothing is held for what was refused',
      async () => (await account.balance()).held === '0.000000',
      200_000,
    );
    const { body } = await account.call('GET', '/v1/videos/generations?limit=100');
    const listed = body.data.map((task: { id: string }) => task.id);
    expect(created.filter((id) => !listed.includes(id))).toEqual([]);
    const submits = answers.map((_, n) => simulator.control.submissions(`standstill-${n}.`).submits);
    expect(submits.reduce((sum, n) => sum + n, 0)).toBe(created.length);
    await expectSoundLedger();
  });

  it('of both gateway processes at SIGTERM: they end in order with status 0', async () => {
    const tasks = await createTasks('sigterm', 3);
    expect(await Promise.all([api.stop(), worker.stop()])).toEqual([0, 0]);
    api = start('api');
    worker = start('worker');
    await ready();
    await expectOnceAndPaid(tasks);
  });
});
