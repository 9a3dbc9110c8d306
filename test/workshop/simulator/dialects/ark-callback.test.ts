import { afterEach, describe, expect, it } from 'vitest';
import { startCallbackReceiver, type CallbackReceiver } from '../../../support/callback-receiver.ts';
import { arkCaller, startHarness, text, expectCallbacks, type Harness } from '../support.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function start(
  respond?: Parameters<typeof startCallbackReceiver>[0],
): Promise<{ harness: Harness; receiver: CallbackReceiver }> {
  const harness = await startHarness({ renderSeconds: 8 });
  const receiver = await startCallbackReceiver(respond);
  open.push(harness, receiver);
  return { harness, receiver };
}

const statuses = (receiver: CallbackReceiver): unknown[] => receiver.received.map(({ body }) => body?.status);
const settle = (milliseconds = 150): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('callbacks', () => {
  it('report each change of status with the JSON of the GET', async () => {
    const { harness, receiver } = await start();
    const ark = arkCaller(harness);
    const id = await ark.created({ callback_url: receiver.url });
    await receiver.waitFor(1);
    harness.control.advance(2);
    await receiver.waitFor(2);
    harness.control.advance(7);
    await receiver.waitFor(3);
    expect(statuses(receiver)).toEqual(['queued', 'running', 'succeeded']);
    expect(receiver.received[2]?.body).toEqual((await ark.get(id)).body);
    expect(receiver.received[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
    await expectCallbacks(harness, { attempts: 3, delivered: 3, failed: 0 });
  });

  it.each([
    ['[sim:failed]', 'failed', 9],
    ['[sim:never-finishes]', 'expired', 3601],
    ['[sim:never-starts]', 'expired', 3601],
  ])('report the end of %s', async (marker, status, seconds) => {
    const { harness, receiver } = await start();
    await arkCaller(harness).created({
      callback_url: receiver.url,
      content: text(marker),
      execution_expires_after: 3600,
    });
    await receiver.waitFor(1);
    harness.control.advance(seconds);
    await receiver.waitFor(2);
    expect(statuses(receiver).at(-1)).toBe(status);
  });

  it('report nothing of a cancelled task', async () => {
    const { harness, receiver } = await start();
    const ark = arkCaller(harness);
    await ark.remove(await ark.created({ callback_url: receiver.url }));
    harness.control.advance(20);
    await settle();
    expect(statuses(receiver).filter((status) => status !== 'queued' && status !== 'cancelled')).toEqual([]);
  });

  it('are repeated until they are acknowledged', async () => {
    const { harness, receiver } = await start((response, index) => {
      response.writeHead(index === 0 ? 500 : 204).end();
    });
    await arkCaller(harness).created({ callback_url: receiver.url, content: text('[sim:never-starts]') });
    await receiver.waitFor(2);
    await expectCallbacks(harness, { attempts: 2, delivered: 1, failed: 0 });
  });

  it('are abandoned after three more attempts', async () => {
    const { harness, receiver } = await start((response) => {
      response.writeHead(503).end();
    });
    await arkCaller(harness).created({ callback_url: receiver.url, content: text('[sim:never-starts]') });
    await receiver.waitFor(4);
    await expectCallbacks(harness, { attempts: 4, delivered: 0, failed: 1 });
  });

  it('can come before the create is answered', async () => {
    let answered = false;
    const order: boolean[] = [];
    const { harness, receiver } = await start((response) => {
      order.push(answered);
      setTimeout(() => response.writeHead(200).end(), 100);
    });
    await arkCaller(harness).created({ callback_url: receiver.url, content: text('[sim:callback-early]') });
    answered = true;
    expect(order).toEqual([false]);
    expect(harness.control.stats().callbacks.delivered).toBe(1);
  });

  it('can come twice', async () => {
    const { harness, receiver } = await start();
    await arkCaller(harness).created({ callback_url: receiver.url, content: text('[sim:callback-twice]') });
    await receiver.waitFor(2);
    harness.control.advance(9);
    await receiver.waitFor(4);
    expect(statuses(receiver)).toEqual(['queued', 'queued', 'succeeded', 'succeeded']);
  });

  it('can never come', async () => {
    const { harness, receiver } = await start();
    await arkCaller(harness).created({ callback_url: receiver.url, content: text('[sim:callback-never]') });
    harness.control.advance(9);
    await settle();
    expect(receiver.received).toEqual([]);
  });

  it('can break off in the middle, every time', async () => {
    const { harness, receiver } = await start();
    await arkCaller(harness).created({
      callback_url: receiver.url,
      content: text('[sim:callback-failing][sim:never-starts]'),
    });
    await receiver.waitFor(1);
    await settle();
    expect(receiver.received[0]?.body).toBeUndefined();
    expect(harness.control.stats().callbacks).toMatchObject({ delivered: 0 });
  });
});
