import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { persevere, type TestAccount } from '../support/client.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { startGatewayProcess, untilReady, waitUntil, type GatewayProcess } from '../support/processes.ts';

const tasksCount = 120;
const creatorsAtOnce = 50;
const historyEventsMax = 18;
const historyBytesMax = 8_000;

const workerBytesMax = 1_000 * 1024 * 1024;

describe('more than a hundred tasks at once', () => {
  let gateway: TestGateway;
  let worker: GatewayProcess;
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mediary-many-'));
    gateway = await startGateway({ renderSeconds: 2, worker: false });
    worker = startGatewayProcess('worker', gateway.environment, join(directory, 'worker.log'));
    await untilReady(gateway.url, 200_000);
  });
  afterAll(async () => {
    await worker.stop();
    await gateway.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it('all end, are charged once, and stay within the history and memory budgets', async () => {
    const account = await gateway.account({ credit: '1000' });
    const ids: string[] = [];
    let next = 0;
    const creator = async (): Promise<void> => {
      while (next < tasksCount) ids.push(await createOne(account, (next += 1)));
    };
    await Promise.all(Array.from({ length: creatorsAtOnce }, creator));
    expect(new Set(ids).size).toBe(tasksCount);
    let workerBytes = 0;
    await waitUntil(
      'all have ended',
      async () => {
        workerBytes = Math.max(workerBytes, await residentBytes(worker.pid));
        return (await account.balance()).held === '0.000000';
      },
      300_000,
    );
    expect(workerBytes).toBeLessThan(workerBytesMax);
    const statuses = async () => (await gateway.core.stores.tasks.findMany(ids)).map(({ status }) => status);
    await expect.poll(statuses).toEqual(ids.map(() => 'succeeded'));
    expect((await account.balance()).available).toBe((1000 - tasksCount * 0.7623).toFixed(6));
    expect(gateway.simulator.submissions('many-')).toEqual({ submits: tasksCount, creates: tasksCount });
    const holders = async (found: readonly string[]) => new Map(found.map((id) => [id, 'workflow'] as const));
    const key = gateway.core.secrets.deriveKey('ledger');
    expect((await verifyLedger({ db: gateway.core.mongo.db, key, holders })).violations).toEqual([]);
    const { workflow } = gateway.core.client;
    const events: number[] = [];
    for (const id of ids.filter((_, index) => index % 20 === 0)) {
      events.push((await workflow.getHandle(id).fetchHistory()).events?.length ?? Number.NaN);
    }
    // On a busy machine, some steps are delayed and run again as regular activities, so compare the shortest history.
    expect(Math.min(...events)).toBeLessThanOrEqual(historyEventsMax);
  });

  it('a long render with a callback stays within the history budget', async () => {
    const account = await gateway.account();
    const receiver = await startCallbackReceiver();
    const renders = [25, 28, 31, 34];
    const histories = renders.map(async (seconds) => {
      const callbackUrl = receiver.url.replace('127.0.0.1', `host-${seconds}.localhost`);
      const created = await account.create({
        prompt: `long [sim:render=${seconds}][sim:callback-never]`,
        metadata: { callback_url: callbackUrl, execution_expires_after: 600 },
      });
      const handle = gateway.core.client.workflow.getHandle(created.body.id);
      await handle.result();
      const { raw } = await handle.describe();
      const bytes = Number(raw.workflowExecutionInfo?.historySizeBytes);
      return { events: (await handle.fetchHistory()).events?.length ?? Number.NaN, bytes };
    });
    const found = await Promise.all(histories);
    await receiver.waitFor(renders.length);
    await receiver.close();
    expect(Math.min(...found.map(({ events }) => events))).toBeLessThanOrEqual(historyEventsMax);
    expect(Math.min(...found.map(({ bytes }) => bytes))).toBeLessThan(historyBytesMax);
  });
});

async function createOne(account: TestAccount, index: number): Promise<string> {
  const created = await persevere(() =>
    account.create({ prompt: `many-${index}.` }, { 'idempotency-key': `many-${index}` }),
  );
  expect(created.status).toBe(200);
  return created.body.id;
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}
