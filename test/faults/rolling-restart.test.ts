import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { choosePort } from '../../src/local/servers/ports.ts';
import { adminCaller, send, type Answer, type TestAccount } from '../support/client.ts';
import { startGateway, testYaml, videoBody, type TestGateway } from '../support/gateway.ts';
import { startGatewayProcess, waitUntil, type GatewayProcess } from '../support/processes.ts';

vi.setConfig({ testTimeout: 600_000 });

let gateway: TestGateway;
let account: TestAccount;
let directory: string;
const running = new Set<GatewayProcess>();

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-rolling-'));
  gateway = await startGateway({ worker: false });
  account = await gateway.account({ credit: '10000' });
});
afterAll(async () => {
  await Promise.all([...running].map((one) => one.kill()));
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

interface Pair {
  readonly url: string;
  stop(): Promise<readonly (number | null)[]>;
}

async function startPair(): Promise<Pair> {
  const port = String(await choosePort('any', 'an API'));
  const environment = {
    ...gateway.environment,
    PORT: port,
    SHUTDOWN_DRAIN_SECONDS: '10',
    SHUTDOWN_GRACE_SECONDS: '60',
  };
  const pair = (['api', 'worker'] as const).map((role) => {
    const one = startGatewayProcess(role, environment, join(directory, `${role}-${port}.log`));
    running.add(one);
    return one;
  });
  await Promise.all(pair.map((one) => one.logged('"started"')));
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => Promise.all(pair.map((one) => one.stop())),
  };
}

const slowServer = /mongodb did not respond within|temporal: .*deadline/i;

/** Returns true if an API logged that MongoDB or Temporal was slow. Callers repeat such requests. */
async function isSlowServer(url: string, { status, headers }: Answer): Promise<boolean> {
  if (status !== 503) return false;
  const id = String(headers['x-request-id']);
  let line: string | undefined;
  await waitUntil(`${url} logs ${id}`, async () => {
    const log = await readFile(join(directory, `api-${new URL(url).port}.log`), 'utf8');
    line = log.split('\n').find((one) => one.includes(id) && one.includes('could not be served'));
    return line !== undefined;
  });
  return slowServer.test(line ?? '');
}

function withModel(model: string): string {
  const part = (id: string) => new RegExp(`^ {2}- id: ${id}\n(?: {4}.*\n)+`, 'm').exec(testYaml)?.[0] ?? '';
  const [channel, entry] = [part('ark'), part('seedance')];
  const second = channel.replace('id: ark', `id: ${model}`).replace('seedance:', `${model}:`);
  return testYaml
    .replace(channel, channel + second)
    .replace(entry, entry + entry.replace('id: seedance', `id: ${model}`));
}

function balance() {
  const ready = new Set<string>();
  let turn = 0;
  const isReady = async (url: string) => (await send(url, 'GET', '/readyz')).status === 200;
  return {
    async watch(url: string, isOver: () => boolean) {
      while (!isOver()) {
        if (await isReady(url).catch(() => false)) ready.add(url);
        else ready.delete(url);
        await sleep(100);
      }
    },
    isReady: (url: string) => ready.has(url),
    next: () => [...ready][(turn += 1) % ready.size] ?? '',
  };
}

it('two APIs and two workers get a new configuration and are replaced under load, and no request fails', async () => {
  const [first, second] = await Promise.all([startPair(), startPair()]);
  const balancer = balance();
  const failures: string[] = [];
  const created: string[] = [];
  let isOver = false;
  let models: readonly string[] = [videoBody.model];
  const watches: Promise<void>[] = [];
  const add = ({ url }: Pair) => {
    watches.push(balancer.watch(url, () => isOver));
    return waitUntil(`${url} is ready`, async () => balancer.isReady(url));
  };
  await Promise.all([add(first), add(second)]);
  const ask = async (method: string, path: string, body?: object) => {
    const options = { key: account.key, headers: { 'idempotency-key': randomUUID() }, ...(body && { body }) };
    try {
      for (;;) {
        const url = balancer.next();
        const answer = await send(url, method, path, options);
        if (answer.status === 200) return answer;
        if (!(await isSlowServer(url, answer))) {
          failures.push(`${method} ${path}: ${answer.text}`);
          return answer;
        }
        await sleep(500);
      }
    } catch (error) {
      failures.push(`${method} ${path}: ${String(error)}`);
      return undefined;
    }
  };
  const caller = async () => {
    while (!isOver) {
      const model = models[created.length % models.length];
      const id = (await ask('POST', '/v1/videos/generations', { ...videoBody, model }))?.body?.id;
      if (id !== undefined) {
        created.push(id);
        await ask('GET', `/v1/videos/generations/${id}`);
      }
      await sleep(200);
    }
  };
  const load = Promise.all([caller(), caller(), caller()]);
  const createdMeanwhile = async <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
    const before = created.length;
    const answer = await work();
    await waitUntil('tasks are created', async () => created.length > before + 3);
    return answer;
  };
  await createdMeanwhile(async () => undefined);

  await writeFile(gateway.environment['GATEWAY_CONFIG'] ?? '', withModel('fresh'));
  const admin = adminCaller(first.url, gateway.adminToken);
  const reload = await createdMeanwhile(() => admin('POST', '/config/reload'));
  const taken = reload.body.nodes.map(({ kind, config, refused }: any) => [kind, config, refused]);
  const version: number = reload.body.version;
  expect(taken).toEqual(['api', 'api', 'api', 'worker', 'worker'].map((kind) => [kind, version, null]));
  models = ['fresh', videoBody.model];

  for (const old of [first, second]) {
    await add(await startPair());
    expect(await createdMeanwhile(() => old.stop())).toEqual([0, 0]);
  }
  isOver = true;
  await load;
  await Promise.all(watches);
  expect(failures.join('\n')).toBe('');
  const served = new Set<string>();
  for (const task of created) {
    const { status, model } = await account.finished(task);
    expect(status).toBe('succeeded');
    served.add(model);
  }
  expect([...served].toSorted()).toEqual(['fresh', videoBody.model]);
  expect(await account.balance()).toMatchObject({ held: '0.000000' });
});
