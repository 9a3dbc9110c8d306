import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '../../src/api.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore } from '../../src/core.ts';
import type { Core } from '../../src/core.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startWorker } from '../../src/worker.ts';
import type { RunningWorker } from '../../src/worker.ts';
import { caller } from '../support/client.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, videoBody } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { expectSoundLedger } from '../support/sound-ledger.ts';

const apartMs = 3 * 60_000;
const tasksPerApi = 6;

/** Two workers and two APIs on the same servers; the clock of one API and one worker is three minutes ahead, or behind. */
describe.each([
  { name: 'ahead', shiftMs: apartMs },
  { name: 'behind', shiftMs: -apartMs },
])('a second API and a second worker whose clock is three minutes $name', ({ shiftMs }) => {
  let gateway: TestGateway;
  let account: TestAccount;
  let shifted: Core;
  let api: Awaited<ReturnType<typeof startApi>>;
  let usual: RunningWorker | undefined;
  let other: RunningWorker | undefined;

  beforeAll(async () => {
    gateway = await startGateway({ worker: false });
    const environment = readEnvironment(gateway.environment);
    const log = createLogger({ level: 'silent', format: 'json' });
    shifted = await openCore(environment, log, { now: () => Date.now() + shiftMs });
    api = await startApi(shifted);
    account = await gateway.account();
  });
  afterAll(async () => {
    await Promise.all([usual?.stop(), other?.stop(), api.stop()]);
    await shifted.close();
    await gateway.stop();
  });

  async function stopWorkers(): Promise<void> {
    await Promise.all([usual?.stop(), other?.stop()]);
    usual = undefined;
    other = undefined;
  }

  async function createOn(url: string, label: string, mark = ''): Promise<string[]> {
    const create = caller(url, account.key);
    const created = await Promise.all(
      Array.from({ length: tasksPerApi }, (_, n) =>
        create('POST', '/v1/videos/generations', { body: { ...videoBody, prompt: `${label}-${n}.${mark}` } }),
      ),
    );
    expect(created.map(({ status }) => status)).toEqual(created.map(() => 200));
    return created.map(({ body }) => body.id);
  }

  /** Twice, as its Schedule does: what it saw unchanged the first time may be abandoned the second time. */
  async function reconcileTwice(): Promise<unknown[]> {
    const { client, environment } = gateway.core;
    const repaired: unknown[] = [];
    for (const round of [1, 2]) {
      const report = await client.workflow.execute('reconcileTasks', {
        workflowId: `${environment.TASK_QUEUE_PREFIX}reconcile-${shiftMs}-${Date.now()}-${round}`,
        taskQueue: `${environment.TASK_QUEUE_PREFIX}tasks`,
        args: [],
      });
      repaired.push(report.repaired);
    }
    return repaired;
  }

  async function expectOnceAndPaid(ids: readonly string[], labels: readonly string[]): Promise<void> {
    for (const id of ids) expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
    for (const label of labels) {
      expect(gateway.simulator.submissions(`${label}-`)).toEqual({
        submits: tasksPerApi,
        creates: tasksPerApi,
      });
    }
    expect(await account.balance()).toMatchObject({ held: '0.000000' });
    await expectSoundLedger(gateway.core);
  }

  it('completes what was created on one and is worked on by the other', async () => {
    const early = await createOn(gateway.url, 'worked-by-the-shifted');
    other = await startWorker(shifted);
    for (const id of early) expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
    await stopWorkers();
    const late = await createOn(api.url, 'worked-by-the-usual');
    usual = await startWorker(gateway.core);
    await expectOnceAndPaid([...early, ...late], ['worked-by-the-shifted', 'worked-by-the-usual']);
    await stopWorkers();
  });

  it('abandons nothing that waits for a worker, and nothing that renders', async () => {
    [usual, other] = await Promise.all([startWorker(gateway.core), startWorker(shifted)]);
    const labels = [`renders-a`, `renders-b`];
    const rendering = ' [sim:render=600]';
    const [here, there] = await Promise.all([
      createOn(gateway.url, 'renders-a', rendering),
      createOn(api.url, 'renders-b', rendering),
    ]);
    await expect
      .poll(() => labels.map((label) => gateway.simulator.submissions(`${label}-`).creates), {
        timeout: 60_000,
      })
      .toEqual([tasksPerApi, tasksPerApi]);
    // Either worker may get either round: each goes by its own clock.
    expect(await reconcileTwice()).toEqual([0, 0]);
    gateway.simulator.advance(600);
    await expectOnceAndPaid([...here, ...there], labels);
  });
});
