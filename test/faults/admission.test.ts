import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '../../src/api.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore } from '../../src/compose/core.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startWorker } from '../../src/worker.ts';
import { caller, persevere, type TestAccount } from '../support/client.ts';
import { startGateway, videoBody, type TestGateway } from '../support/gateway.ts';
import { expectSoundLedger, keptHolds } from '../support/sound-ledger.ts';
import { startStoppingApi } from '../support/start-stopping-api.ts';

let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  gateway = await startGateway();
  account = await gateway.account();
});
afterAll(() => gateway.stop());

const expectSound = () => expectSoundLedger(gateway.core);

describe.each(['admission.claimed', 'ledger.append', 'admission.held', 'admission.started'] as const)(
  'an API that dies at %s',
  (point) => {
    it('has created one task for a caller who repeats, and it runs once', async () => {
      const api = await startStoppingApi(gateway.environment, { at: point });
      const headers = { 'idempotency-key': `dies-at-${point}` };
      const body = { ...videoBody, prompt: `dies at ${point}.` };
      const lost = caller(api.url, account.key)('POST', '/v1/videos/generations', { body, headers });
      await expect(lost).rejects.toMatchObject({ code: 'ECONNRESET' });
      await api.closed;
      expect([api.lines.at(-1), api.child.signalCode]).toEqual([`reached ${point}`, 'SIGKILL']);
      const again = await account.create({ prompt: body.prompt }, headers);
      expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, 'true']);
      expect(await account.finished(again.body.id)).toMatchObject({ status: 'succeeded' });
      expect(gateway.simulator.submissions(body.prompt)).toEqual({ submits: 1, creates: 1 });
      expect(await account.balance()).toMatchObject({ held: '0.000000' });
      await expectSound();
    });
  },
);

it('without any worker, a create gets its response at once, and the task is done when a worker returns', async () => {
  const idle = await startGateway({ worker: false });
  try {
    const owner = await idle.account();
    const created = await owner.create();
    expect(created.status).toBe(200);
    const { body } = await owner.call('GET', `/v1/videos/generations/${created.body.id}`);
    expect(body.status).toBe('pending');
    expect(await owner.balance()).toMatchObject({ held: '0.762300' });
    const worker = await startWorker(idle.core);
    expect(await owner.finished(created.body.id)).toMatchObject({ status: 'succeeded' });
    await worker.stop();
  } finally {
    await idle.stop();
  }
});

it('402 is exact under 60 simultaneous creates on two processes', async () => {
  const poor = await gateway.account({ credit: '10' });
  const core = await openCore(
    readEnvironment(gateway.environment),
    createLogger({ level: 'silent', format: 'json' }),
  );
  const second = await startApi(core);
  const other = caller(second.url, poor.key);
  try {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => {
        const headers = { 'idempotency-key': `poor-${n}` };
        const create = n % 2 === 0 ? poor.call : other;
        return persevere(() => create('POST', '/v1/videos/generations', { body: videoBody, headers }));
      }),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(402)]).toEqual([13, 47]);
    for (const { status, body } of answers) if (status === 200) await poor.finished(body.id);
    expect(await poor.balance()).toMatchObject({ available: '0.090100', held: '0.000000' });
    const { body } = await poor.call('GET', '/v1/videos/generations?limit=100');
    expect(body.data).toHaveLength(13);
    await expectSound();
  } finally {
    await second.stop();
    await core.close();
  }
});

it('a cap for 10 is exact under 60 simultaneous creates on two processes, one of which is killed', async () => {
  const capped = await gateway.account({ credit: '1000' });
  const { keys } = gateway.core.stores;
  const [key] = await keys.list({ account: capped.id }, { limit: 1 });
  const change = { at: Date.now(), by: 'test', action: 'caps changed', reason: '' };
  await keys.setCaps(key?.id ?? '', { all: { total: 7_623_000n }, models: new Map() }, change);
  const api = await startStoppingApi(gateway.environment);
  const other = caller(api.url, capped.key);
  const answers = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const headers = { 'idempotency-key': `capped-${n}` };
      const create = n % 2 === 0 ? capped.call : other;
      const options = { body: videoBody, headers };
      try {
        const answer = await persevere(() => create('POST', '/v1/videos/generations', options));
        if (create === other) api.child.kill('SIGKILL');
        return answer;
      } catch {
        return persevere(() => capped.create({}, headers));
      }
    }),
  );
  await api.closed;
  expect(api.child.signalCode).toBe('SIGKILL');
  const created = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ body }) => body.error?.code === 'spend_cap_exceeded');
  expect([created.length, refused.length]).toEqual([10, 50]);
  const entries = await gateway.core.ledger.entries(capped.id, { limit: 1_000 });
  const holds = keptHolds(entries).map(({ task }) => task);
  expect(new Set(holds)).toEqual(new Set(created.map(({ body }) => body.id)));
  expect(holds).toHaveLength(10);
  for (const { body } of created) await capped.finished(body.id);
  expect((await capped.call('GET', '/v1/key')).body.spent.total).toMatchObject({
    used: '7.623000', left: '0.000000',
  }); // prettier-ignore
  expect(await capped.balance()).toMatchObject({ held: '0.000000' });
  await expectSound();
});

it('a workflow that is reset to its start resumes its job: it is neither resubmitted nor released', async () => {
  const created = await account.create({ prompt: 'reset to its start.' });
  const { id } = created.body;
  const { client } = gateway.core;
  const isUpstream = async () =>
    (await account.call('GET', `/v1/videos/generations/${id}`)).body.status !== 'pending';
  while (!(await isUpstream())) await new Promise((resolve) => setTimeout(resolve, 50));
  const handle = client.workflow.getHandle(id);
  const { events = [] } = await handle.fetchHistory();
  const firstDone = (events ?? []).find(({ workflowTaskCompletedEventAttributes: done }) => Boolean(done));
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId: id },
    reason: 'a test',
    requestId: `reset-${id}`,
    workflowTaskFinishEventId: firstDone?.eventId ?? null,
  });
  expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
  expect(await client.workflow.getHandle(id).result()).toMatchObject({ status: 'succeeded' });
  expect(gateway.simulator.submissions('reset to its start.')).toEqual({ submits: 1, creates: 1 });
  await expectSound();
});
