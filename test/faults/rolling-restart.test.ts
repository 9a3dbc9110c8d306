import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startApi } from '../../src/api.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore } from '../../src/core.ts';
import { startWorker } from '../../src/worker.ts';
import { send } from '../support/client.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, videoBody } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';

vi.setConfig({ testTimeout: 300_000 });

let gateway: TestGateway;
let account: TestAccount;
const running = new Set<Pair>();

beforeAll(async () => {
  gateway = await startGateway({ worker: false });
  account = await gateway.account({ credit: '10000' });
});
afterAll(async () => {
  await Promise.all([...running].map((pair) => pair.stop()));
  await gateway.stop();
});

interface Pair {
  readonly url: string;
  /** What SIGTERM does to an API and a worker. */
  stop(): Promise<void>;
}

async function startPair(): Promise<Pair> {
  // Longer than the balancer below takes to notice, on a machine that is busy.
  const environment = readEnvironment({ ...gateway.environment, SHUTDOWN_DRAIN_SECONDS: '10' });
  const core = await openCore(environment, gateway.core.log);
  const [api, worker] = await Promise.all([startApi(core), startWorker(core)]);
  const pair: Pair = {
    url: api.url,
    async stop() {
      running.delete(pair);
      await Promise.all([api.stop(), worker.stop()]);
      await core.close();
    },
  };
  running.add(pair);
  return pair;
}

/** Sends each request to one of the addresses that said last that they were ready. */
function balance() {
  const ready = new Set<string>();
  let turn = 0;
  const isReady = async (url: string) => (await send(url, 'GET', '/readyz')).status === 200;
  return {
    /** Asks this address until the end of the test. */
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

it('two APIs and two workers are replaced under load, and no request fails', async () => {
  const [first, second] = await Promise.all([startPair(), startPair()]);
  const balancer = balance();
  const failures: string[] = [];
  const created: string[] = [];
  let isOver = false;
  const watches: Promise<void>[] = [];
  const add = ({ url }: Pair) => {
    watches.push(balancer.watch(url, () => isOver));
    return waitUntil(`${url} is ready`, async () => balancer.isReady(url));
  };
  await Promise.all([add(first), add(second)]);
  const ask = async (method: string, path: string, body?: object) => {
    try {
      const answer = await send(balancer.next(), method, path, { key: account.key, ...(body && { body }) });
      if (answer.status !== 200) failures.push(`${method} ${path}: ${answer.text}`);
      return answer;
    } catch (error) {
      failures.push(`${method} ${path}: ${String(error)}`);
      return undefined;
    }
  };
  const caller = async () => {
    while (!isOver) {
      const id = (await ask('POST', '/v1/videos/generations', videoBody))?.body?.id;
      if (id !== undefined) {
        created.push(id);
        await ask('GET', `/v1/videos/generations/${id}`);
      }
      await sleep(200);
    }
  };
  const load = Promise.all([caller(), caller(), caller()]);
  for (const old of [first, second]) {
    const next = await startPair();
    await add(next);
    const before = created.length;
    await old.stop();
    expect(created.length).toBeGreaterThan(before);
  }
  isOver = true;
  await load;
  await Promise.all(watches);
  expect(failures).toEqual([]);
  for (const task of created) expect(await account.finished(task)).toMatchObject({ status: 'succeeded' });
  expect(await account.balance()).toMatchObject({ held: '0.000000' });
});
