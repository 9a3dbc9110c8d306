import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { callbacksQueue, channelQueue, tasksQueue } from '../../src/base/queues.ts';
import { startWorker } from '../../src/worker.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, testYaml, type TestGateway } from '../support/gateway.ts';
import { startGatewayProcess, waitUntil, type GatewayProcess } from '../support/processes.ts';
import { startFaultUpstream, type Fault, type FaultUpstream } from './fault-upstream.ts';
import { startSilentServer } from '../support/silent-server.ts';

/** Each test checks the records before the next worker starts, because that worker might repair them. */
let gateway: TestGateway;
let account: TestAccount;
let directory: string;
const started: GatewayProcess[] = [];
let launched = 0;

const [workflowQueue, activityQueue] = [1, 2];

/** Forwards creates to the simulator immediately, but holds back the response until `answers` resolves. */
let upstream: FaultUpstream;
let answers: Promise<void> = Promise.resolve();
const answerLate: Fault = async ({ forward, answer }) => {
  const { status, text } = await forward();
  await answers;
  answer(status, text);
};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-shutdown-'));
  upstream = await startFaultUpstream(
    new Map([['late', { create: answerLate }]]),
    () => gateway.simulatorUrl,
  );
  // The grace period is long, so that the test times out if a worker uses all of it.
  const patientYaml = testYaml
    .replace('submit_ms: 10000', 'submit_ms: 60000')
    .replace('${SIMULATOR_URL}', `http://127.0.0.1:${upstream.port}/late`);
  gateway = await startGateway({ worker: false, yaml: patientYaml });
  account = await gateway.account();
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((worker) => worker.kill()));
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  await rm(directory, { recursive: true, force: true });
});

async function newWorker(environment: NodeJS.ProcessEnv = {}): Promise<GatewayProcess> {
  const worker = launch({ ...gateway.environment, ...environment });
  await worker.logged('"started"');
  return worker;
}

function launch(environment: NodeJS.ProcessEnv): GatewayProcess {
  const logFile = join(directory, `worker-${(launched += 1)}.log`);
  const worker = startGatewayProcess('worker', environment, logFile);
  started.push(worker);
  return worker;
}

const recordOf = (task: string, of: TestGateway = gateway) => of.core.stores.tasks.find(task);
const attemptOf = async (task: string, of: TestGateway = gateway) => (await recordOf(task, of))?.attempts[0];
const callbackOf = async (task: string, of: TestGateway = gateway) => (await recordOf(task, of))?.callback;
const hasJob = (prompt: string) =>
  waitUntil('the upstream has the job', async () => gateway.simulator.submissions(prompt).creates === 1);
const kindsOf = async (task: string) =>
  (await gateway.core.ledger.entriesOfTask(task)).map(({ kind }) => kind);
const workflowEnds = (task: string) => gateway.core.client.workflow.getHandle(task).result();

async function createLateAnswered(prompt: string): Promise<{ task: string; answer: () => void }> {
  let answer = (): void => undefined;
  answers = new Promise((resolve) => (answer = resolve));
  onTestFinished(() => answer());
  const created = await account.create({ prompt });
  await hasJob(prompt);
  expect(await attemptOf(created.body.id)).toMatchObject({ state: 'sending' });
  return { task: created.body.id, answer };
}

async function startNextWorker(of: TestGateway = gateway): Promise<void> {
  const worker = await startWorker(of.core);
  onTestFinished(() => worker.stop());
}

const forgetting = `process.on('SIGUSR2', () => void Promise.reject(new Error('forgotten')))`;

it('SIGTERM with a submission in flight waits for the response and accepts no new work, whatever else happens', async () => {
  const worker = await newWorker({
    NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(forgetting)}"`,
  });
  const { task, answer } = await createLateAnswered('in-flight');
  worker.signal('SIGTERM');
  await worker.logged('shutting down');
  // Ctrl-C signals every process of the terminal, and npm forwards its own signal, so one key press sends two.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGINT', 'SIGUSR2'] as const) worker.signal(signal);
  await worker.logged('a rejection was not handled');
  const late = await account.create({ prompt: 'came-late.' });
  expect(late.status).toBe(200);
  expect(await attemptOf(task)).toMatchObject({ state: 'sending' });
  answer();
  expect(await worker.ended).toBe(0);
  expect(await attemptOf(late.body.id)).toBeUndefined();
  expect(gateway.simulator.submissions('came-late.')).toEqual({ submits: 0, creates: 0 });
  expect(await attemptOf(task)).toMatchObject({ state: 'accepted', operation: { id: expect.any(String) } });
  await startNextWorker();
  for (const [id, prompt] of [
    [task, 'in-flight'],
    [late.body.id, 'came-late.'],
  ]) {
    expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
    expect(gateway.simulator.submissions(prompt)).toEqual({ submits: 1, creates: 1 });
    expect(await kindsOf(id)).toEqual(['hold', 'settle']);
  }
});

it('SIGTERM with a poll in flight leaves the poll to the next worker', async () => {
  const worker = await newWorker();
  const { body } = await account.create({
    prompt: 'still-rendering [sim:render=600][sim:queue=1][sim:callback-never]',
  });
  await waitUntil('it renders', async () => {
    const task = await account.call('GET', `/v1/videos/generations/${body.id}`);
    return task.body.status === 'running';
  });
  expect(await worker.stop()).toBe(0);
  const { raw } = await gateway.core.client.workflow.getHandle(body.id).describe();
  const pending = (raw.pendingActivities ?? []).map(({ activityId, state }) => ({ activityId, state }));
  // State 1 is SCHEDULED rather than STARTED, so the next worker need not wait for the dead worker's heartbeat timeout.
  expect(pending).toEqual([{ activityId: 'submit', state: 1 }]);
  await startNextWorker();
  gateway.simulator.advance(600);
  expect(await account.finished(body.id)).toMatchObject({ status: 'succeeded' });
  expect(gateway.simulator.submissions('still-rendering')).toEqual({ submits: 1, creates: 1 });
});

async function holdCallbacks() {
  const waiting: ServerResponse[] = [];
  const server = createServer((request, response) => {
    request.resume().on('end', () => waiting.push(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, waiting };
}

describe('SIGTERM with a callback in flight', () => {
  it('waits for the response, and the next worker does not deliver it again', async () => {
    const receiver = await holdCallbacks();
    const worker = await newWorker();
    const { body } = await account.create({ metadata: { callback_url: receiver.url } });
    await waitUntil('the callback arrives', async () => receiver.waiting.length === 1);
    worker.signal('SIGTERM');
    await worker.logged('shutting down');
    receiver.waiting[0]?.writeHead(204).end();
    expect(await worker.ended).toBe(0);
    expect(await callbackOf(body.id)).toMatchObject({
      state: 'delivered',
      attempts: [{ status: 204 }],
    });
    await startNextWorker();
    await workflowEnds(body.id);
    expect(receiver.waiting).toHaveLength(1);
  });

  it('records a delivery that failed after the grace period, and the next worker retries it', async () => {
    // The grace period equals the longest submission timeout. Here, that is much shorter than the time limit of a
    // callback.
    const hasty = await startGateway({
      worker: false,
      yaml: testYaml.replace('submit_ms: 10000', 'submit_ms: 1000'),
    });
    onTestFinished(() => hasty.stop());
    const owner = await hasty.account();
    const receiver = await holdCallbacks();
    const worker = launch(hasty.environment);
    await worker.logged('"started"');
    const { body } = await owner.create({ metadata: { callback_url: receiver.url } });
    await waitUntil('the callback arrives', async () => receiver.waiting.length === 1);
    worker.signal('SIGTERM');
    await worker.logged('shutting down');
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    receiver.waiting[0]?.writeHead(500).end();
    expect(await worker.ended).toBe(0);
    const delivery = await callbackOf(body.id, hasty);
    expect(delivery).toMatchObject({ state: 'pending', attempts: [{ status: 500 }] });
    await startNextWorker(hasty);
    await waitUntil('the callback arrives again', async () => receiver.waiting.length === 2);
    receiver.waiting[1]?.writeHead(204).end();
    await hasty.core.client.workflow.getHandle(body.id).result();
    expect(await callbackOf(body.id, hasty)).toMatchObject({
      state: 'delivered',
      attempts: [{ status: 500 }, { status: 204 }],
    });
  });
});

it('SIGTERM while the upstream is silent for longer than the grace period: the job is found, not resubmitted', async () => {
  const hasty = await startGateway({
    worker: false,
    yaml: testYaml.replace('submit_ms: 10000', 'submit_ms: 15000'),
  });
  onTestFinished(() => hasty.stop());
  const owner = await hasty.account();
  const worker = launch(hasty.environment);
  await worker.logged('"started"');
  const { body } = await owner.create({ prompt: 'silent-upstream [sim:create:accepted-then-silent=60]' });
  await waitUntil(
    'the upstream has the job',
    async () => hasty.simulator.submissions('silent-upstream').creates === 1,
  );
  worker.signal('SIGTERM');
  expect(await worker.ended).toBe(0);
  expect(await attemptOf(body.id, hasty)).toMatchObject({
    state: 'lost',
    code: 'timeout',
  });
  await startNextWorker(hasty);
  expect(await owner.finished(body.id)).toMatchObject({ status: 'succeeded' });
  expect(hasty.simulator.submissions('silent-upstream')).toEqual({ submits: 1, creates: 1 });
});

describe('a start', () => {
  // The first process of a container ignores every signal for which it has no handler.
  it('ends at SIGTERM while a server keeps it waiting', async () => {
    const silent = await startSilentServer();
    const worker = launch({ ...gateway.environment, TEMPORAL_ADDRESS: silent.address });
    await silent.connected;
    worker.signal('SIGTERM');
    expect(await worker.ended).toBe(0);
  });

  it('that fails halfway has started no work', async () => {
    const fresh = await startGateway({ worker: false });
    onTestFinished(() => fresh.stop());
    const { client, environment } = fresh.core;
    const prefix = environment.TASK_QUEUE_PREFIX;
    const isPolled = async (name: string, taskQueueType: number): Promise<boolean> => {
      const asked = { namespace: 'default', taskQueue: { name }, taskQueueType };
      return ((await client.workflowService.describeTaskQueue(asked)).pollers ?? []).length > 0;
    };
    const arePolled = () =>
      Promise.all([
        isPolled(tasksQueue(prefix), workflowQueue),
        isPolled(channelQueue(prefix, 'ark'), activityQueue),
        isPolled(callbacksQueue(prefix), activityQueue),
      ]);
    // Fails the last step of the startup as soon as a queue is polled, or after 5 s if none is.
    const create = async (): Promise<never> => {
      const seen = async () => (await arePolled()).includes(true);
      await waitUntil('a queue is polled', seen, 5_000).catch(() => undefined);
      throw new Error('no schedule');
    };
    const failing = Object.assign(Object.create(client), { schedule: { create } });
    await expect(startWorker({ ...fresh.core, client: failing })).rejects.toThrow('no schedule');
    expect(await arePolled()).toEqual([false, false, false]);
    const worker = await startWorker(fresh.core);
    await waitUntil('all queues are polled', async () => (await arePolled()).every(Boolean));
    await worker.stop();
  });
});
