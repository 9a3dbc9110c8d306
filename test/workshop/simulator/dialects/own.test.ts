import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { startCallbackReceiver } from '../../../support/callback-receiver.ts';
import { replicateWebhookSecret } from '../../../../workshop/simulator/dialects/replicate.ts';
import { seedance2, startHarness, testKey } from '../support.ts';

const harness = await startHarness({ renderSeconds: 8 });
beforeEach(() => {
  harness.control.reset();
});
afterAll(() => harness.close());

const replicate = '/replicate/v1';
const seedance = 'bytedance/seedance-2.0';
const predict = (more: object, path = `/models/${seedance}/predictions`) =>
  harness.call('POST', `${replicate}${path}`, { input: { prompt: 'a cat' }, ...more });

it.each([
  ['a version', '/predictions', { version: createHash('sha256').update(seedance).digest('hex') }, 201],
  ['a name and its version', '/predictions', { version: seedance }, 201],
  ['an unknown version', '/predictions', { version: 'a'.repeat(64) }, 422],
  ['no version', '/predictions', {}, 422],
  ['a deployment', '/deployments/acme/seedance-2.0/predictions', {}, 201],
  ['an unknown deployment', '/deployments/acme/other/predictions', {}, 404],
  ['an unknown model', '/models/acme/other/predictions', {}, 404],
])('Replicate predicts by %s', async (_, path, more, status) => {
  expect((await predict(more, path)).status).toBe(status);
});

it('new-api takes multipart, with metadata as JSON text', async () => {
  const form = new FormData();
  const fields = { model: seedance2, prompt: 'a cat', seconds: '8', metadata: '{"ratio":"1:1"}' };
  for (const [key, value] of Object.entries(fields)) form.set(key, value);
  const headers = { authorization: `Bearer ${testKey}` };
  const response = await fetch(`${harness.url}/new-api/v1/videos`, { method: 'POST', headers, body: form });
  const { id } = (await response.json()) as { id: string };
  harness.control.advance(9);
  const { body } = await harness.call('GET', `/new-api/v1/videos/${id}`);
  expect(body).toMatchObject({ seconds: '8', metadata: { url: expect.stringContaining('/960x960-') } });
});

it('MiniMax never calls an address that did not return the challenge', async () => {
  const receiver = await startCallbackReceiver();
  try {
    const body = { model: 'MiniMax-Hailuo-2.3', prompt: 'a cat', callback_url: receiver.url };
    expect((await harness.call('POST', '/minimax/v1/video_generation', body)).status).toBe(200);
    harness.control.advance(9);
    await predict({ webhook: receiver.url, webhook_events_filter: ['completed'] });
    harness.control.advance(9);
    await receiver.waitFor(2);
    expect(receiver.received.map(({ body: { challenge } }) => challenge === undefined)).toEqual([
      false,
      true,
    ]);
  } finally {
    await receiver.close();
  }
});

it('DashScope requires its header for asynchronous requests', async () => {
  const path = '/dashscope/api/v1/services/aigc/video-generation/video-synthesis';
  const answer = await harness.call('POST', path, { model: 'wan2.6-t2v', input: { prompt: 'x' } });
  expect([answer.status, answer.body.code]).toEqual([403, 'AccessDenied']);
});

it('Runway requires its version header, and shows which job of a model waits for a slot', async () => {
  const headers = { 'x-runway-version': '2024-11-06' };
  const body = { model: 'gen4.5', promptText: 'a cat', ratio: '1280:720', duration: 5 };
  const create = (more: Record<string, string>) =>
    harness.call('POST', '/runway/v1/text_to_video', body, more);
  expect((await create({})).status).toBe(400);
  for (let index = 0; index < 20; index += 1) await create(headers);
  harness.control.advance(2);
  const { id } = (await create(headers)).body;
  const { body: task } = await harness.call('GET', `/runway/v1/tasks/${id}`, undefined, headers);
  expect(task.status).toBe('THROTTLED');
});

it('calls back at the events that were asked for, signed with the secret that it hands out', async () => {
  const receiver = await startCallbackReceiver();
  try {
    await predict({ webhook: receiver.url });
    await predict({ webhook: receiver.url, webhook_events_filter: ['completed'] });
    harness.control.advance(4);
    await receiver.waitFor(1);
    harness.control.advance(5);
    await receiver.waitFor(3);
    expect(receiver.received.map(({ body }) => body.status)).toEqual([
      'processing',
      'succeeded',
      'succeeded',
    ]);
    const { key } = (await harness.call('GET', `${replicate}/webhooks/default/secret`)).body;
    expect(key).toBe(replicateWebhookSecret);
    const [, last] = receiver.received;
    if (last === undefined) throw new Error('no callback came');
    const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = last.headers;
    const secret = Buffer.from(String(key).replace('whsec_', ''), 'base64');
    const text = `${String(id)}.${String(time)}.${JSON.stringify(last.body)}`;
    expect(signature).toBe(`v1,${createHmac('sha256', secret).update(text).digest('base64')}`);
    expect(Math.abs(Number(time) - Date.now() / 1000)).toBeLessThan(300);
    expect(last.body).toMatchObject({ output: expect.any(String), metrics: { predict_time: 7 } });
  } finally {
    await receiver.close();
  }
});
