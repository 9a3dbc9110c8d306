import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  expectDeliveredOnce,
  startCallbackReceiver as openCallbackReceiver,
} from '../support/callback-receiver.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';

async function activitiesOf(gateway: TestGateway, task: string): Promise<string[]> {
  const { events } = await gateway.core.client.workflow.getHandle(task).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled ? [scheduled.activityType?.name ?? ''] : [],
  );
}

async function wasDeliveredWithoutActivity(gateway: TestGateway, task: string): Promise<boolean> {
  const handle = gateway.core.client.workflow.getHandle(task);
  let usesActivity = false;
  await waitUntil('it is known who delivers', async () => {
    const { status } = await handle.describe();
    usesActivity = (await activitiesOf(gateway, task)).includes('deliverCallback');
    return usesActivity || status.name !== 'RUNNING';
  });
  return !usesActivity;
}

async function startCallbackReceiver(statuses?: readonly number[]) {
  const receiver = await openCallbackReceiver(statuses);
  onTestFinished(() => void receiver.close());
  return receiver;
}

const triesMax = 6;

async function createTask(account: TestAccount, callbackUrl: string): Promise<string> {
  const { body } = await account.create({ metadata: { callback_url: callbackUrl } });
  return body.id;
}

const ids = (receiver: Awaited<ReturnType<typeof startCallbackReceiver>>) =>
  receiver.received.map(({ headers }) => headers['webhook-id']);

describe('the first request of a callback', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  it('costs no activity if the receiver responds promptly', async () => {
    const account = await gateway.account();
    const receiver = await startCallbackReceiver();
    let task: string | undefined;
    // Use a new host name for each attempt. On a busy machine, the first callback may be slow, and later callbacks to a
    // slow host are sent by the activity.
    for (let n = 1; task === undefined && n <= triesMax; n += 1) {
      const tried = await createTask(account, receiver.url.replace('127.0.0.1', `host-${n}.localhost`));
      await receiver.waitFor(n);
      if (await wasDeliveredWithoutActivity(gateway, tried)) task = tried;
    }
    if (task === undefined) throw new Error(`an activity delivered each of ${triesMax} callbacks`);
    expect((await gateway.core.stores.tasks.find(task))?.callback).toMatchObject({
      state: 'delivered',
      attempts: [{ status: 204 }],
    });
  });

  it('that gets no response delays no other task, and is repeated by the activity', async () => {
    const account = await gateway.account();
    const recordOf = async (task: string) => {
      await gateway.core.client.workflow.getHandle(task).result();
      return gateway.core.stores.tasks.find(task);
    };
    // The other tasks must finish before the callback is repeated. On a busy machine, that may take several attempts.
    let isHit = false;
    for (let tries = 1; !isHit && tries <= triesMax; tries += 1) {
      const [silent, quick] = [await startCallbackReceiver([0, 204]), await startCallbackReceiver()];
      const task = await createTask(account, silent.url);
      await silent.waitFor(1);
      const others = await Promise.all(Array.from({ length: 5 }, () => createTask(account, quick.url)));
      await expect.poll(() => new Set(ids(quick))).toEqual(new Set(others));
      for (const id of others) expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
      isHit = silent.received.length === 1;
      await silent.waitFor(2);
      expectDeliveredOnce(silent, await recordOf(task));
      expect(new Set(ids(silent))).toEqual(new Set([task]));
      for (const id of others) expectDeliveredOnce(quick, await recordOf(id));
      expect(await activitiesOf(gateway, task)).toContain('deliverCallback');
    }
    expect(isHit, `the others were done first in one of ${triesMax} tries`).toBe(true);
  });
});

describe('a callback that is refused at first', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  it('is repeated by the activity on its schedule, not at once', async () => {
    const account = await gateway.account();
    const receiver = await startCallbackReceiver([500, 204]);
    const task = await createTask(account, receiver.url);
    await receiver.waitFor(2);
    await gateway.core.client.workflow.getHandle(task).result();
    expect(await activitiesOf(gateway, task)).toContain('deliverCallback');
    const delivery = (await gateway.core.stores.tasks.find(task))?.callback;
    expect(delivery).toMatchObject({ state: 'delivered', attempts: [{ status: 500 }, { status: 204 }] });
    const [first, second] = delivery?.attempts ?? [];
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(4_500);
    expect(ids(receiver)).toEqual([task, task]);
  });

  it('may take the documented ten seconds to get a response, as a test callback may', async () => {
    const account = await gateway.account();
    const receiver = await startCallbackReceiver();
    const deliver = vi.spyOn(gateway.core.outbound.callbacks, 'deliver');
    onTestFinished(() => deliver.mockRestore());
    const task = await createTask(account, receiver.url);
    await receiver.waitFor(1);
    await gateway.core.client.workflow.getHandle(task).result();
    await account.call('POST', '/v1/callbacks/test', { body: { url: receiver.url } });
    const limits = new Map(
      deliver.mock.calls.map(([{ body, timeoutMs }]) => [JSON.parse(body).type, timeoutMs]),
    );
    expect(limits).toEqual(
      new Map([
        [undefined, 10_000],
        ['test', 10_000],
      ]),
    );
  });
});
