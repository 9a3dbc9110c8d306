import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectDeliveredOnce, startCallbackReceiver } from '../support/callback-receiver.ts';
import { startGateway, videoCharge, videoTokens, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';

describe('the life of a task', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  const entriesOf = (task: string) => gateway.core.ledger.entriesOfTask(task);

  it('goes from submitted to a video that is delivered, called back and paid for', async () => {
    const account = await gateway.account();
    const receiver = await startCallbackReceiver();
    const created = await account.create({
      prompt: 'a paper boat [sim:render=600]',
      metadata: { callback_url: receiver.url, seed: 7, return_last_frame: true },
    });
    expect(created.status).toBe(200);
    expect(created.body).toMatchObject({
      object: 'video.generation.task',
      status: 'submitted',
      model: 'seedance',
    });
    expect(created.body.id).toMatch(/^task_[0-9A-Za-z]{22,}$/);
    expect(created.body.task_id).toBe(created.body.id);

    const first = await account.call('GET', `/v1/video/generations/${created.body.id}`);
    expect(first.status).toBe(200);
    expect(['pending', 'submitted', 'running']).toContain(first.body.status);
    expect(first.body.data).toEqual([]);
    expect(await account.balance()).toMatchObject({ held: videoCharge });
    await waitUntil('it renders', async () => gateway.simulator.tasks('a paper boat').length === 1);
    gateway.simulator.advance(600);

    const done = await account.finished(created.body.id);
    expect(done).toMatchObject({
      status: 'succeeded',
      duration: 5,
      usage: { completion_tokens: videoTokens, total_tokens: videoTokens },
    });
    expect(done['video_url']).toBe(done['data'][0].url);
    expect(done['data'][0].last_frame_url).toMatch(/^http/);
    expect(done['trace_id']).not.toBe('');
    expect(done).not.toHaveProperty('error');

    const video = await fetch(done['video_url']);
    expect(video.status).toBe(200);
    expect(video.headers.get('content-type')).toBe('video/mp4');
    expect(
      Buffer.from(await video.arrayBuffer())
        .subarray(4, 8)
        .toString(),
    ).toBe('ftyp');

    await receiver.waitFor(1);
    const [callback] = receiver.received;
    const now = await account.call('GET', `/v1/videos/generations/${created.body.id}`);
    expect(callback?.body).toEqual(now.body);
    const headers = Object.fromEntries(
      Object.entries(callback?.headers ?? {}).map(([name, value]) => [name, String(value)]),
    );
    expect(new Webhook(account.webhookSecret).verify(callback?.text ?? '', headers)).toEqual(now.body);

    expect((await entriesOf(created.body.id)).map(({ kind, amount }) => [kind, amount])).toEqual([
      ['hold', 762_300n],
      ['settle', 762_300n],
    ]);
    expect(await account.balance()).toMatchObject({ available: '99.237700', held: '0.000000' });
    await gateway.core.client.workflow.getHandle(created.body.id).result();
    const record = await gateway.core.stores.tasks.find(created.body.id);
    expect(record?.callback).toMatchObject({ state: 'delivered' });
    expectDeliveredOnce(receiver, record);
    await receiver.close();
  });

  it('charges the usage beyond the hold, even below zero', async () => {
    const account = await gateway.account({ credit: '0.80' });
    const created = await account.create({ prompt: 'too long [sim:usage-above=2]' });
    const done = await account.finished(created.body.id);
    expect(done['usage'].completion_tokens).toBe(2 * videoTokens);
    expect((await entriesOf(created.body.id)).map(({ kind, amount }) => [kind, amount])).toEqual([
      ['hold', 762_300n],
      ['settle', 762_300n],
      ['charge_extra', 762_300n],
    ]);
    expect(await account.balance()).toMatchObject({ available: '-0.724600', held: '0.000000' });
    const next = await account.create();
    expect(next.status).toBe(402);
    expect(next.body.error).toMatchObject({ type: 'billing_error', code: 'insufficient_balance', param: '' });
  });

  it.each([
    ['fails', '[sim:failed]'],
    ['is moderated while it renders', '[sim:moderation-in-task]'],
    ['is refused for its content', '[sim:moderation]'],
  ])('costs nothing when it %s', async (_, marker) => {
    const account = await gateway.account();
    const created = await account.create({ prompt: `a boat ${marker}` });
    expect(created.status).toBe(200);
    const done = await account.finished(created.body.id);
    expect(done).toMatchObject({ status: 'failed', error: { code: 'provider_error' }, data: [] });
    expect(done['error'].message).not.toMatch(/cgt-|127\.0\.0\.1|Request id/i);
    expect(done).not.toHaveProperty('usage');
    expect((await entriesOf(created.body.id)).map(({ kind }) => kind)).toEqual(['hold', 'release']);
    expect(await account.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
  });

  it('is charged by the formula, marked as estimated, when the upstream reports no usage', async () => {
    const account = await gateway.account();
    const created = await account.create({ prompt: 'quiet [sim:missing-usage]' });
    await account.finished(created.body.id);
    const [, settle] = await entriesOf(created.body.id);
    expect(settle).toMatchObject({ kind: 'settle', amount: 762_300n });
    expect(settle?.note).toMatch(/estimated/);
  });

  it('survives an upstream that answers polls with errors, nonsense and statuses that go backwards', async () => {
    const account = await gateway.account();
    const markers = [
      '[sim:poll:500*2]',
      '[sim:poll:html*1]',
      '[sim:poll:malformed*1]',
      '[sim:unknown-status]',
      '[sim:backwards]',
    ];
    const created = await Promise.all(markers.map((marker) => account.create({ prompt: `rough ${marker}` })));
    for (const { body } of created)
      expect(await account.finished(body.id)).toMatchObject({ status: 'succeeded' });
  });

  it('holds the worst case of everything that the request leaves open', async () => {
    const account = await gateway.account();
    const created = await account.create({ duration: -1, resolution: undefined, ratio: 'adaptive' });
    expect(created.status).toBe(200);
    const [hold] = await entriesOf(created.body.id);
    // The hold covers 15 s at 720p (the default resolution), in the ratio with the most pixels, at 7.00 per million
    // tokens.
    expect(hold?.amount).toBeGreaterThan(2_000_000n);
    const done = await account.finished(created.body.id);
    const [, settle] = await entriesOf(created.body.id);
    expect(done['status']).toBe('succeeded');
    expect(settle?.amount).toBeLessThanOrEqual(hold?.amount ?? 0n);
    expect(await account.balance()).toMatchObject({ held: '0.000000' });
  });

  it('is not created without a balance, and the upstream receives nothing', async () => {
    const account = await gateway.account({ credit: '0.10' });
    const refused = await account.create({ prompt: 'unpaid-and-unsent' });
    expect(refused.status).toBe(402);
    expect(refused.body.error.message).toContain('0.762300');
    expect(gateway.simulator.submissions('unpaid-and-unsent').submits).toBe(0);
    expect((await account.call('GET', '/v1/videos/generations')).body.data).toEqual([]);
    expect(await account.balance()).toMatchObject({ available: '0.100000', held: '0.000000' });
  });
});
