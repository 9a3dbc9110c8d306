import { keyScopes } from '../../src/base/key-scope.ts';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startApi } from '../../src/api.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore } from '../../src/compose/core.ts';
import { createTaskClient } from '../../src/temporal/task-client.ts';
import { createLogger } from '../../src/observability/log.ts';
import { expectDeliveredOnce, startCallbackReceiver } from '../support/callback-receiver.ts';
import { caller, type TestAccount } from '../support/client.ts';
import { startGateway, testYaml, videoBody, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';

let gateway: TestGateway;
let secondUrl: string;

beforeAll(async () => {
  gateway = await startGateway({ yaml: twoChannels() });
  const core = await openCore(
    readEnvironment(gateway.environment),
    createLogger({ level: 'silent', format: 'json' }),
  );
  const second = await startApi(core);
  secondUrl = second.url;
  return async () => {
    await second.stop();
    await core.close();
  };
});
afterAll(() => gateway.stop());

function twoChannels(): string {
  const [, channel = ''] = /^channels:\n((?: +.*\n)+)/m.exec(testYaml) ?? [];
  const spare = channel.replace('id: ark', 'id: spare\n    priority: 1');
  return testYaml.replace(channel, `${channel.replace('id: ark', 'id: ark\n    priority: 10')}${spare}`);
}

const scheduled = 1;
const show = async (task: string) => (await gateway.admin('GET', `/tasks/${task}`)).body;
const kindsOf = async (task: string) =>
  (await gateway.core.ledger.entriesOfTask(task)).map(({ kind }) => kind);

const rendering = '[sim:render=600]';
const finishRenders = () => gateway.simulator.advance(600);

async function createRunning(account: TestAccount, prompt: string, more: object = {}): Promise<string> {
  const created = await account.create({ prompt: `${prompt} ${rendering}`, ...more });
  expect(created.status).toBe(200);
  const { id } = created.body;
  await waitUntil('the task is upstream', async () => {
    const { status } = (await account.call('GET', `/v1/videos/generations/${id}`)).body;
    return status === 'submitted' || status === 'running';
  });
  return id;
}

it('an act that ended the task and whose response was lost returns its result when it is repeated, and is not done twice', async () => {
  const account = await gateway.account();
  const task = await createRunning(account, 'an answer gets lost');
  const { client, environment } = gateway.core;
  const act = (updateId: string) =>
    createTaskClient({
      client,
      queuePrefix: environment.TASK_QUEUE_PREFIX,
      now: Date.now,
      newActId: () => updateId,
    }).act(task, 'fail', { reason: 'it hangs', by: 'ada' });
  const first = await act('lost');
  await client.workflow.getHandle(task).result();
  expect(await act('lost')).toEqual(first);
  await expect(act('another')).rejects.toMatchObject({ code: 'action_not_possible' });
  expect((await show(task)).actions).toHaveLength(1);
  expect(await kindsOf(task)).toEqual(['hold', 'release']);
});

describe('a channel that is switched off', () => {
  const turn = (channel: string, enabled: boolean, reason = 'maintenance') =>
    gateway.admin('POST', `/channels/${channel}`, { enabled, reason });
  const switchOff = async (...channels: string[]): Promise<void> => {
    onTestFinished(async () => {
      for (const channel of channels) await turn(channel, true);
    });
    for (const channel of channels) expect((await turn(channel, false)).status).toBe(200);
  };

  it('keeps its tasks in flight, and new ones go to another', async () => {
    const account = await gateway.account();
    const before = await createRunning(account, 'before the switch');
    expect((await show(before)).channel).toBe('ark');
    await switchOff('ark');
    const after = (await account.create({ prompt: 'after the switch' })).body.id;
    expect(await account.finished(after)).toMatchObject({ status: 'succeeded' });
    expect((await show(after)).channel).toBe('spare');
    finishRenders();
    expect(await account.finished(before)).toMatchObject({ status: 'succeeded' });
    expect((await show(before)).channel).toBe('ark');
    expect(gateway.simulator.submissions('before the switch')).toEqual({ submits: 1, creates: 1 });
  });

  it('together with all others refuses creates on every node, without a hold or a task', async () => {
    const account = await gateway.account();
    await switchOff('ark', 'spare');
    const elsewhere = caller(secondUrl, account.key);
    const create = (call = elsewhere) => call('POST', '/v1/videos/generations', { body: videoBody });
    await expect.poll(async () => (await create()).status, { interval: 250 }).toBe(503);
    const { body: before } = await account.call('GET', '/v1/videos/generations?limit=100');
    const refused = [await create(), await create(account.call)];
    expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual([
      [503, 'service_unavailable'],
      [503, 'service_unavailable'],
    ]);
    const { body: after } = await account.call('GET', '/v1/videos/generations?limit=100');
    expect(after.data).toHaveLength(before.data.length);
    for (const { id } of before.data) await account.finished(id);
    expect(await account.balance()).toMatchObject({ held: '0.000000' });
  });

  it('serves again when it is switched on, and each switch is recorded with its reason', async () => {
    const account = await gateway.account();
    await switchOff('ark');
    const again = await turn('ark', false, 'still broken');
    expect(again.body.switch).toMatchObject({ enabled: false, by: 'admin', reason: 'still broken' });
    expect((await turn('ark', true, 'repaired')).body.switch).toMatchObject({
      enabled: true,
      reason: 'repaired',
    });
    const task = (await account.create()).body.id;
    expect(await account.finished(task)).toMatchObject({ status: 'succeeded' });
    expect((await show(task)).channel).toBe('ark');
  });
});

describe('a key that is revoked', () => {
  it('gives no access on any node, while its tasks run to their end, are charged and called back', async () => {
    const account = await gateway.account();
    const receiver = await startCallbackReceiver();
    onTestFinished(() => void receiver.close());
    const task = await createRunning(account, 'outlives its key', {
      metadata: { callback_url: receiver.url },
    });
    const elsewhere = caller(secondUrl, account.key);
    expect((await elsewhere('GET', '/v1/balance')).status).toBe(200);
    expect((await gateway.admin('DELETE', `/keys/${account.keyId}`)).status).toBe(200);
    expect((await account.create()).status).toBe(401);
    await expect
      .poll(async () => (await elsewhere('GET', '/v1/balance')).status, { interval: 250 })
      .toBe(401);
    expect((await account.call('GET', `/v1/videos/generations/${task}`)).status).toBe(401);
    finishRenders();
    await receiver.waitFor(1);
    expect(receiver.received[0]?.body).toMatchObject({ id: task, status: 'succeeded' });
    expect(await kindsOf(task)).toEqual(['hold', 'settle']);
    const { body: next } = await gateway.admin('POST', '/keys', { account: account.id, scopes: keyScopes });
    const seen = await caller(gateway.url, next.key)('GET', `/v1/videos/generations/${task}`);
    expect([seen.status, seen.body.status]).toEqual([200, 'succeeded']);
  });

  it('leaves the other keys of its account alone', async () => {
    const account = await gateway.account();
    const { body: other } = await gateway.admin('POST', '/keys', { account: account.id, scopes: keyScopes });
    await gateway.admin('DELETE', `/keys/${account.keyId}`);
    expect((await account.call('GET', '/v1/balance')).status).toBe(401);
    expect((await caller(gateway.url, other.key)('GET', '/v1/balance')).status).toBe(200);
  });
});

describe('credits', () => {
  const credit = (account: string, amount: string, reference: string) =>
    gateway.admin('POST', `/accounts/${account}/credits`, { amount, reference });

  it('admit at once, on every node, requests that were refused for lack of money', async () => {
    const account = await gateway.account({ credit: '0' });
    const elsewhere = caller(secondUrl, account.key);
    const refused = [
      await account.create(),
      await elsewhere('POST', '/v1/videos/generations', { body: videoBody }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([402, 402]);
    expect((await credit(account.id, '0.7623', 'invoice-1')).status).toBe(200);
    const created = await elsewhere('POST', '/v1/videos/generations', { body: videoBody });
    expect(created.status).toBe(200);
    expect((await account.create()).status).toBe(402);
    expect(await account.finished(created.body.id)).toMatchObject({ status: 'succeeded' });
    expect(await account.balance()).toMatchObject({ available: '0.000000', held: '0.000000' });
  });

  it('below zero stop new tasks, and those in flight are still charged', async () => {
    const account = await gateway.account({ credit: '1' });
    const task = await createRunning(account, 'already held');
    const taken = await credit(account.id, '-5', 'chargeback');
    expect(taken.body).toMatchObject({ kind: 'adjust', available: '-4.762300', held: '0.762300' });
    expect((await account.create()).status).toBe(402);
    finishRenders();
    expect(await account.finished(task)).toMatchObject({ status: 'succeeded' });
    expect(await account.balance()).toMatchObject({ available: '-4.762300', held: '0.000000' });
  });
});

it('a signal from the Temporal UI without its input, or with another one, breaks no task', async () => {
  const account = await gateway.account();
  const task = await createRunning(account, 'signalled');
  const handle = gateway.core.client.workflow.getHandle(task);
  for (const name of ['concern', 'unserved']) {
    await handle.signal(name);
    for (const input of [null, 'a text', { concern: 'a text' }, [1]]) await handle.signal(name, input);
  }
  finishRenders();
  expect(await account.finished(task)).toMatchObject({ status: 'succeeded' });
});

describe('redelivery of a callback', () => {
  const redeliver = (task: string, reason = 'the receiver was down') =>
    gateway.admin('POST', `/tasks/${task}/actions`, { action: 'redeliver', reason });

  const recordOf = (task: string) => gateway.core.stores.tasks.find(task);
  const callbackOf = async (task: string) => (await recordOf(task))?.callback;

  async function endedTask(statuses: readonly number[], answered = 1) {
    const account = await gateway.account();
    const receiver = await startCallbackReceiver(statuses);
    onTestFinished(() => void receiver.close());
    const { body } = await account.create({ metadata: { callback_url: receiver.url } });
    await receiver.waitFor(answered);
    await waitUntil('the delivery is on record', async () => {
      const task = await gateway.core.stores.tasks.find(body.id);
      return task?.callback?.attempts[answered - 1]?.status !== undefined;
    });
    return { account, receiver, task: body.id };
  }

  it('sends a delivered callback once more, with the same id and a valid signature', async () => {
    const { account, receiver, task } = await endedTask([204]);
    expect((await redeliver(task)).status).toBe(200);
    await receiver.waitFor(2);
    const [first, second] = receiver.received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toEqual(first?.body);
    const webhook = new Webhook(account.webhookSecret);
    for (const { text, headers } of receiver.received) {
      const signed = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
      expect(
        webhook.verify(text, Object.fromEntries(signed.map((name) => [name, String(headers[name])]))),
      ).toEqual(JSON.parse(text));
    }
    expect((await show(task)).actions).toMatchObject([
      { by: 'admin', action: 'redeliver', reason: 'the receiver was down' },
    ]);
  });

  it('reaches an address that had responded with 410, and the record shows the delivery', async () => {
    const { receiver, task } = await endedTask([410, 204]);
    expect(await callbackOf(task)).toMatchObject({ state: 'gave_up' });
    expect((await redeliver(task)).status).toBe(200);
    await receiver.waitFor(2);
    await waitUntil('it is delivered', async () => {
      return (await callbackOf(task))?.state === 'delivered';
    });
    expect(await callbackOf(task)).toMatchObject({
      attempts: [{ status: 410 }, { status: 204 }],
    });
  });

  it('replaces a series that is waiting for its next attempt', async () => {
    const { receiver, task } = await endedTask([500, 500, 204], 2);
    expect(await callbackOf(task)).toMatchObject({ state: 'pending' });
    expect((await redeliver(task)).status).toBe(200);
    await receiver.waitFor(3);
    // The series that was replaced would resume now. Its activity must finish without sending another request.
    const { client } = gateway.core;
    const handle = client.workflow.getHandle(task);
    const delivering = async () => (await handle.describe()).raw.pendingActivities?.[0];
    await waitUntil('it waits for its next request', async () => (await delivering())?.state === scheduled);
    const pending = await delivering();
    expect(pending?.activityType?.name).toBe('deliverCallback');
    const { namespace } = client.options;
    const execution = { workflowId: task };
    await client.workflowService.resetActivity({ namespace, execution, id: pending?.activityId ?? '' });
    await handle.result();
    expect(receiver.received).toHaveLength(3);
  });

  it('is refused while the task runs, and for a task without an address', async () => {
    const account = await gateway.account();
    const receiver = await startCallbackReceiver();
    onTestFinished(() => void receiver.close());
    const running = await createRunning(account, 'not ended yet', {
      metadata: { callback_url: receiver.url },
    });
    const early = await redeliver(running);
    expect([early.status, early.body.error]).toEqual([
      409,
      expect.objectContaining({ code: 'action_not_possible', message: expect.stringContaining('has ended') }),
    ]);
    finishRenders();
    await account.finished(running);
    await gateway.core.client.workflow.getHandle(running).result();
    expectDeliveredOnce(receiver, await recordOf(running));
    const silent = (await account.create()).body.id;
    await account.finished(silent);
    const nowhere = await redeliver(silent);
    expect([nowhere.status, nowhere.body.error.message]).toEqual([
      409,
      expect.stringContaining('no callback URL'),
    ]);
    expect((await show(silent)).actions).toEqual([]);
  });

  it('is refused for an unknown task, and without a reason', async () => {
    const unknown = await redeliver('task_0000000000000000000000');
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'task_not_found']);
    const { receiver, task } = await endedTask([204]);
    const silent = await redeliver(task, '');
    expect([silent.status, silent.body.error.param]).toEqual([400, 'reason']);
    expect((await show(task)).actions).toEqual([]);
    expectDeliveredOnce(receiver, await recordOf(task));
  });
});
