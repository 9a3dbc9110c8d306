import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startApi } from '../../src/api.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore, type Core } from '../../src/compose/core.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startWorker, type RunningWorker } from '../../src/worker.ts';
import { caller, persevere, type TestAccount } from '../support/client.ts';
import { startGateway, twoChannelsYaml, videoBody, type TestGateway } from '../support/gateway.ts';
import { expectSoundLedger } from '../support/sound-ledger.ts';
import { sendImages, startImageUpstream, type ImageUpstream } from '../images/support.ts';

const apartMs = 3 * 60_000;
const tasksPerApi = 6;

const yamlWithImages = (url: string): string =>
  twoChannelsYaml.replace(
    '\nmodels:',
    `
  - id: images
    provider: openai
    base_url: ${url}
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models: { gpt-image: { upstream: gpt-image-1.5 } }
  - id: narrow
    provider: openai
    base_url: ${url}
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    limits: { concurrent_tasks: 1 }
    models: { narrow-image: { upstream: gpt-image-1.5 } }
models:
  - id: narrow-image
    kind: image
    price: { lines: [{ measure: image, price: "0.04" }] }
  - id: gpt-image
    kind: image
    price: { lines: [{ measure: image, price: "0.04" }] }`,
  );

describe.each([
  { name: 'ahead', shiftMs: apartMs },
  { name: 'behind', shiftMs: -apartMs },
])('a second API and a second worker whose clock is three minutes $name', ({ shiftMs }) => {
  let images: ImageUpstream;
  let gateway: TestGateway;
  let account: TestAccount;
  let shifted: Core;
  let api: Awaited<ReturnType<typeof startApi>>;
  let usual: RunningWorker | undefined;
  let other: RunningWorker | undefined;

  beforeAll(async () => {
    images = await startImageUpstream();
    gateway = await startGateway({ worker: false, yaml: yamlWithImages(images.url) });
    const environment = readEnvironment(gateway.environment);
    const log = createLogger({ level: 'silent', format: 'json' });
    shifted = await openCore(environment, log, { ownNow: () => Date.now() + shiftMs });
    api = await startApi(shifted);
    account = await gateway.account();
  });
  afterAll(async () => {
    await Promise.all([usual?.stop(), other?.stop(), api.stop()]);
    await shifted.close();
    await gateway.stop();
    await images.close();
  });

  async function stopWorkers(): Promise<void> {
    await Promise.all([usual?.stop(), other?.stop()]);
    usual = undefined;
    other = undefined;
  }

  async function createOn(url: string, label: string, mark = ''): Promise<string[]> {
    const create = caller(url, account.key);
    const created = await Promise.all(
      Array.from({ length: tasksPerApi }, (_, n) => {
        const body = { ...videoBody, prompt: `${label}-${n}.${mark}` };
        const headers = { 'idempotency-key': `${label}-${n}` };
        return persevere(() => create('POST', '/v1/videos/generations', { body, headers }));
      }),
    );
    expect(created.map(({ status }) => status)).toEqual(created.map(() => 200));
    return created.map(({ body }) => body.id);
  }

  /** A task is considered abandoned only if it did not change between two runs. */
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

  it('completes tasks that one process creates and the other works on', async () => {
    const early = await createOn(gateway.url, 'worked-by-the-shifted');
    other = await startWorker(shifted);
    for (const id of early) expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
    await stopWorkers();
    const late = await createOn(api.url, 'worked-by-the-usual');
    usual = await startWorker(gateway.core);
    await expectOnceAndPaid([...early, ...late], ['worked-by-the-shifted', 'worked-by-the-usual']);
    await stopWorkers();
  });

  it('abandons nothing that waits for a worker or renders', async () => {
    [usual, other] = await Promise.all([startWorker(gateway.core), startWorker(shifted)]);
    const labels = [`renders-a`, `renders-b`];
    const rendering = ' [sim:render=600]';
    const [here, there] = await Promise.all([
      createOn(gateway.url, 'renders-a', rendering),
      createOn(api.url, 'renders-b', rendering),
    ]);
    await expect
      .poll(() => labels.map((label) => gateway.simulator.submissions(`${label}-`).creates))
      .toEqual([tasksPerApi, tasksPerApi]);
    expect(await reconcileTwice()).toEqual([0, 0]);
    gateway.simulator.advance(600);
    await expectOnceAndPaid([...here, ...there], labels);
  });

  async function timersOf(task: string): Promise<number[]> {
    const { events } = await gateway.core.client.workflow.getHandle(task).fetchHistory();
    const started = (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) => timer ?? []);
    return started.slice(1).map(({ startToFireTimeout: time }) => Number(time?.seconds));
  }

  it('pauses as long as the channels have asked, and retries at once when an operator says so', async () => {
    await stopWorkers();
    other = await startWorker(shifted);
    const { body } = await account.create({ prompt: 'pauses [sim:429=600*2]' });
    // The tolerance covers a pause that starts a few seconds late on a busy machine, but not clocks three minutes
    // apart.
    await expect.poll(() => timersOf(body.id)).toEqual([expect.closeTo(600, -2)]);
    expect(gateway.simulator.submissions('pauses')).toEqual({ submits: 2, creates: 0 });
    const resumed = await gateway.admin('POST', `/tasks/${body.id}/actions`, {
      action: 'retry_now',
      reason: 'the upstream is back',
    });
    expect(resumed.status).toBe(200);
    expect(await account.finished(body.id)).toMatchObject({ status: 'succeeded' });
    expect(gateway.simulator.submissions('pauses')).toEqual({ submits: 3, creates: 1 });
    await expectSoundLedger(gateway.core);
  });

  it('writes deadlines, leases and circuits that last as long for the others as for itself', async () => {
    const before = Date.now();
    const created = await caller(api.url, account.key)('POST', '/v1/videos/generations', {
      body: { ...videoBody, metadata: { execution_expires_after: 3_600 } },
    });
    const { createdAt, deadlineAt } =
      (await gateway.core.stores.tasks.find(created.body.id)) ?? expect.fail();
    expect(Math.abs(createdAt - before)).toBeLessThan(60_000);
    expect(deadlineAt).toBe(createdAt + 3_600_000);

    const credential = { channel: 'narrow', credential: 'a' };
    const call = (task: string, leaseMs: number) => ({
      task,
      account: 'one',
      candidate: credential,
      leaseMs,
    });
    for (const [one, another] of [
      [shifted, gateway.core],
      [gateway.core, shifted],
    ] as const) {
      const slots = [one, another].map((core) => core.health.slots);
      expect(await slots[0]?.tryTake(call('holder', 90_000))).toBe(true);
      expect(await slots[1]?.tryTake(call('other', 90_000))).toBe(false);
      await slots[1]?.release('holder');
      expect(await slots[0]?.tryTake(call('holder', 0))).toBe(true);
      await expect.poll(() => slots[1]?.tryTake(call('other', 90_000))).toBe(true);
      await slots[0]?.release('other');

      const circuits = [one, another].map((core) => core.health.circuits);
      const outage = async () => {
        await circuits[1]?.refresh();
        return circuits[1]?.outage({ ...credential, model: 'narrow-image' });
      };
      const order = { by: 'ada', reason: 'a test' };
      await circuits[0]?.override(credential, { ...order, state: 'open', until: one.now() + 90_000 });
      expect(await outage()).toMatchObject({ reason: 'circuit_open' });
      await circuits[0]?.override(credential, { ...order, state: 'open', until: one.now() });
      await expect.poll(outage).toBeUndefined();
      await circuits[0]?.override(credential, { ...order, state: 'closed', until: 0 });
    }
    await account.call('POST', `/v1/videos/generations/${created.body.id}/cancel`);
  });

  it('ends no task early or late while the database’s clock is 15 minutes from Temporal’s', async () => {
    await stopWorkers();
    usual = await startWorker(gateway.core);
    gateway.clock.aheadMs = 5 * shiftMs;
    const create = async (prompt: string, seconds: number): Promise<string> =>
      (await account.create({ prompt, metadata: { execution_expires_after: seconds } })).body.id;
    const [inTime, late] = [await create('in time', 300), await create('late [sim:render=600]', 2)];
    expect(await account.finished(inTime)).toMatchObject({ status: 'succeeded' });
    expect(await account.finished(late)).toMatchObject({ error: { code: 'task_expired' } });
    gateway.clock.aheadMs = 0;
    await expectSoundLedger(gateway.core);
  });

  it.each([
    ['the shifted', () => gateway.url, () => ({ url: api.url, core: shifted })],
    ['the usual', () => api.url, () => ({ url: gateway.url, core: gateway.core })],
  ])(
    'gives a repeat of an image request to %s API the response of the first, which is still running',
    async (name, first, by) => {
      const { url, core } = by();
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      images.answer = async (call, response) => {
        await held;
        sendImages(call, response);
      };
      const calls = images.calls.length;
      const ask = (at: string) =>
        caller(at, account.key)('POST', '/v1/images/generations', {
          body: { model: 'gpt-image', prompt: 'a red cube' },
          headers: { 'idempotency-key': name.replace(' ', '-') },
        });
      const answered = ask(first());
      await expect.poll(() => images.calls.length).toBe(calls + 1);
      const looks = vi.spyOn(core.stores.repeats, 'find');
      const repeated = ask(url);
      await expect.poll(() => looks.mock.calls.length).toBeGreaterThan(2);
      looks.mockRestore();
      release();
      const [one, again] = await Promise.all([answered, repeated]);
      expect([one.status, again.status, again.headers['idempotency-replayed']]).toEqual([200, 200, 'true']);
      expect(again.body).toEqual(one.body);
      expect(images.calls.length).toBe(calls + 1);
      await expectSoundLedger(gateway.core);
    },
  );
});
