import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore, type Core } from '../../src/compose/core.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startWorker, type RunningWorker } from '../../src/worker.ts';
import { actOn, type TestAccount } from '../support/client.ts';
import { startGateway, twoChannelsYaml, videoBody, videoCharge } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { expectSoundLedger } from '../support/sound-ledger.ts';

const leaving = `  - id: leaving
    provider: dashscope
    base_url: \${SIMULATOR_URL}/dashscope/api/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    limits: { submits_per_second: 500, polls_per_second: 500 }
    timeouts: { submit_ms: 10000, poll_ms: 10000 }
    models: { wan: { upstream: wan2.6-t2v } }
`;
const twoCredentials = 'credentials: [{ id: a, api_key: simulated }, { id: b, api_key: simulated }]';
const wan = `  - id: wan
    kind: video
    input_types: [text_to_video]
    resolutions: [720p]
    ratios: ["16:9"]
    durations: { min: 2, max: 15, default: 5 }
    expected_seconds: 1
    price: { lines: [{ measure: second, price: "0.10" }] }
`;
const full = `${twoChannelsYaml.replace('\nmodels:', `\n${leaving}models:`)}${wan}`;
const spare = /^ {2}- id: spare\n(?: {4}.*\n)+/m.exec(full)?.[0] ?? '';

let gateway: TestGateway;
let account: TestAccount;
let core: Core | undefined;
let worker: RunningWorker | undefined;

beforeAll(async () => {
  gateway = await startGateway({ worker: false, yaml: full });
  account = await gateway.account();
  await runWorkerWith(full);
  await gateway.core.client.schedule
    .getHandle(`${gateway.environment['TASK_QUEUE_PREFIX']}reconcile-tasks`)
    .pause();
});
afterAll(async () => {
  await stopWorker();
  await gateway.stop();
});

async function stopWorker(): Promise<void> {
  await worker?.stop();
  await core?.close();
}

async function runWorkerWith(yaml: string): Promise<void> {
  await writeFile(gateway.environment['GATEWAY_CONFIG'] ?? '', yaml);
  const reloaded = await gateway.admin('POST', '/config/reload');
  expect(reloaded.status).toBe(200);
  await stopWorker();
  gateway.clock.aheadMs = 0;
  const log = createLogger({ level: 'silent', format: 'json' });
  core = await openCore(readEnvironment(gateway.environment), log, {
    databaseNow: () => Date.now() + gateway.clock.aheadMs,
  });
  worker = await startWorker(core);
}

async function create(prompt: string, body: Record<string, unknown> = {}): Promise<string> {
  const { status, body: made } = await account.create({ prompt, ...body });
  expect(status).toBe(200);
  return made.id;
}

const situationOf = async (id: string) => (await gateway.admin('GET', `/tasks/${id}`)).body.situation;
const reaches = (id: string, name: string) =>
  expect.poll(async () => (await gateway.core.stores.tasks.find(id))?.state.at).toBe(name);
const kindsOf = async (id: string) =>
  (await gateway.core.ledger.entriesOfTask(id)).map(({ kind, amount }) => [kind, amount]);

async function act(id: string, action: string): Promise<void> {
  const { status, text } = await actOn(gateway.admin, id, { action, reason: 'a test' });
  expect([status, text]).toEqual([200, expect.any(String)]);
}

async function attributeOf(id: string): Promise<unknown> {
  const { searchAttributes } = await gateway.core.client.workflow.getHandle(id).describe();
  return searchAttributes['NeedsAttention']?.[0];
}

async function summariesOf(id: string): Promise<string[]> {
  const { events } = await gateway.core.client.workflow.getHandle(id).fetchHistory();
  return (events ?? []).flatMap(({ userMetadata }) => {
    const text = Buffer.from(userMetadata?.summary?.data ?? []).toString();
    return text.startsWith('"Waits: ') ? [text] : [];
  });
}

it('a task that waits for a channel without a worker is submitted to another one', async () => {
  const prompt = 'turns';
  // The first channel rejects the task once. The task then needs the second channel's only slot, which is taken for up
  // to five minutes.
  const limited = spare.replace('limits: { ', 'limits: { concurrent_tasks: 1, ');
  await runWorkerWith(full.replace(spare, limited.replace('0-260128', '0-260128+429=200')));
  const id = await create(`${prompt} [sim:503*1] [sim:render=3600]`);
  const queues = async () => (await gateway.core.stores.slots.held()).map(({ queue }) => queue);
  const attempts = async () =>
    ((await gateway.core.stores.tasks.find(id))?.attempts ?? []).map(({ channel, state }) => [
      channel,
      state,
    ]);
  const refused = [
    ['ark', 'not_accepted'],
    ['spare', 'not_accepted'],
  ];
  await expect.poll(attempts).toEqual(refused);
  await runWorkerWith(full.replace(spare, ''));
  expect(await situationOf(id)).toMatchObject({ name: 'queued' });
  expect([await attempts(), await queues()]).toEqual([refused, ['spare/a']]);
  await gateway.reconcile();
  await expect.poll(attempts).toEqual([
    ['ark', 'accepted'],
    ['spare', 'not_accepted'],
  ]);
  expect(await queues()).toEqual([]);
  gateway.simulator.advance(3600);
  expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
  expect(gateway.simulator.submissions(prompt)).toEqual({ submits: 3, creates: 1 });
  await expectSoundLedger(gateway.core);
});

it('tasks of a removed channel end as documented, and an operator can end them at once', async () => {
  await runWorkerWith(full);
  const prompt = 'removed';
  const renders = { model: 'wan', prompt: `${prompt} [sim:render=3600]` };
  const lost = { model: 'wan', prompt: `${prompt} [sim:create:accepted-then-silent]` };
  gateway.simulator.addFault({ match: { prompt: 'pauses' }, fault: '429=600', times: 2 });
  const [rendering, failing, expiring, silent, pausing] = await Promise.all([
    create(renders.prompt, renders),
    create(renders.prompt, renders),
    create(renders.prompt, { ...renders, metadata: { execution_expires_after: 60 } }),
    create(lost.prompt, lost),
    create('pauses'),
  ]);
  await Promise.all([
    reaches(rendering, 'waiting'),
    reaches(failing, 'waiting'),
    reaches(expiring, 'waiting'),
    reaches(pausing, 'pausing'),
    reaches(silent, 'asking'),
  ]);
  await expect.poll(async () => (await situationOf(silent)).attention).toBe('submit_ambiguous');
  await runWorkerWith(full.replace(spare, '').replace(leaving, ''));
  await gateway.reconcile();

  expect(await situationOf(rendering)).toMatchObject({ attention: 'channel_gone' });
  await expect.poll(() => attributeOf(rendering)).toBe('channel_gone');
  expect((await summariesOf(rendering)).at(-1)).toContain('Waits: needs attention (channel_gone): ');
  await act(failing, 'fail');
  await act(silent, 'fail');
  await act(pausing, 'retry_now');
  expect(await account.finished(pausing)).toMatchObject({ status: 'succeeded' });
  for (const id of [failing, silent]) {
    expect(await account.finished(id)).toMatchObject({ status: 'failed', error: { code: 'internal_error' } });
    expect((await kindsOf(id)).map(([kind]) => kind)).toEqual(['hold', 'release']);
  }
  expect(await account.finished(expiring)).toMatchObject({
    status: 'failed',
    error: { code: 'task_expired' },
  });

  await runWorkerWith(full);
  await gateway.reconcile();
  await expect.poll(() => attributeOf(rendering)).not.toBe('channel_gone');
  gateway.simulator.advance(3600);
  expect(await account.finished(rendering)).toMatchObject({ status: 'succeeded' });
  expect((await account.balance()).held).toBe('0.000000');
  await expectSoundLedger(gateway.core);
});

it('a task whose credential was removed says so, and continues when it is back', async () => {
  const both = full.replace(
    leaving,
    leaving.replace('credentials: [{ id: a, api_key: simulated }]', twoCredentials),
  );
  await runWorkerWith(both);
  const id = await create('credential [sim:render=3600]', { model: 'wan' });
  await reaches(id, 'waiting');
  const { credential = '' } = (await gateway.core.stores.tasks.find(id)) ?? {};
  await runWorkerWith(
    both.replace(
      twoCredentials,
      `credentials: [{ id: ${credential === 'a' ? 'b' : 'a'}, api_key: simulated }]`,
    ),
  );
  await gateway.reconcile();
  expect(await situationOf(id)).toMatchObject({ attention: 'channel_gone', name: 'waiting' });
  await expect.poll(() => attributeOf(id)).toBe('channel_gone');
  await runWorkerWith(both);
  await gateway.reconcile();
  expect((await situationOf(id)).attention).not.toBe('channel_gone');
  gateway.simulator.advance(3600);
  expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
  await expectSoundLedger(gateway.core);
});

it('a price change does not affect the hold, the basis and the charge of tasks in flight', async () => {
  await runWorkerWith(full);
  const id = await create('priced [sim:render=3600]');
  await reaches(id, 'waiting');
  const held = async (task: string) =>
    (await gateway.core.ledger.entriesOfTask(task)).find(({ kind }) => kind === 'hold');
  const before = await held(id);
  await runWorkerWith(full.replace('price: "7.00"', 'price: "70.00"'));
  const later = await create('priced later', { resolution: videoBody.resolution });
  expect(await held(id)).toEqual(before);
  expect((await held(later))?.amount).toBe(10n * (before?.amount ?? 0n));
  gateway.simulator.advance(3600);
  expect(await account.finished(id)).toMatchObject({ status: 'succeeded', usage: expect.anything() });
  expect(await account.finished(later)).toMatchObject({ status: 'succeeded' });
  const charges = await Promise.all(
    [id, later].map(async (task) => (await gateway.admin('GET', `/tasks/${task}`)).body.charge),
  );
  expect(charges).toEqual([videoCharge, '7.623000']);
  const settled = (await gateway.core.ledger.entriesOfTask(id)).find(({ kind }) => kind === 'settle');
  expect(JSON.parse(settled?.basis ?? '{}').version).toBe(JSON.parse(before?.basis ?? '{}').version);
  await expectSoundLedger(gateway.core);
});
