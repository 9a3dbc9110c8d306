import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';

/** Which activities a task's workflow scheduled, by name. */
async function activitiesOf(gateway: TestGateway, task: string): Promise<string[]> {
  const { events } = await gateway.core.client.workflow.getHandle(task).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled ? [scheduled.activityType?.name ?? ''] : [],
  );
}

/** Known once the activity is scheduled, or the workflow has ended without it. */
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

  it('costs no activity where the receiver answers at once', async () => {
    const account = await gateway.account();
    const receiver = await startCallbackReceiver();
    const delivered: string[] = [];
    // A busy machine may make one of them late, and that host is left alone then: each name is another host.
    for (let n = 1; n <= 5 && delivered.length === 0; n += 1) {
      const task = await createTask(account, receiver.url.replace('127.0.0.1', `host-${n}.localhost`));
      await receiver.waitFor(n);
      if (await wasDeliveredWithoutActivity(gateway, task)) delivered.push(task);
    }
    const [task = 'none'] = delivered;
    expect((await gateway.core.stores.tasks.find(task))?.callback).toMatchObject({
      state: 'delivered',
      attempts: [{ status: 204 }],
    });
    receiver.close();
  });

  it('that is not answered delays no other task, and is repeated by the activity', async () => {
    const account = await gateway.account();
    const [silent, quick] = [await startCallbackReceiver([0, 204]), await startCallbackReceiver()];
    const task = await createTask(account, silent.url);
    await silent.waitFor(1);
    const others = await Promise.all(Array.from({ length: 5 }, () => createTask(account, quick.url)));
    await quick.waitFor(5);
    for (const id of others) expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
    expect(new Set(ids(quick))).toEqual(new Set(others));
    // The host has become a slow one: the others' callbacks are the activity's.
    expect(silent.received).toHaveLength(1);
    await silent.waitFor(2);
    expect(ids(silent)).toEqual([task, task]);
    await gateway.core.client.workflow.getHandle(task).result();
    expect(await activitiesOf(gateway, task)).toContain('deliverCallback');
    for (const receiver of [silent, quick]) receiver.close();
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
    receiver.close();
  });
});
