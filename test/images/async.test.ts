import { mkdtemp, rm } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoNetworkError } from 'mongodb';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { actOn, postForm, type Answer, type TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { refuseFirstCopy } from '../support/refuse-first-copy.ts';
import { imageYaml, pixel, sendImages, sendJson, startImageUpstream, type ImageUpstream } from './support.ts';

let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'async-images-'));
  upstream = await startImageUpstream();
  const yaml = `${imageYaml({ first: upstream.url })}results: { storage: directory }\n`;
  gateway = await startGateway({ yaml, environment: { DATA_DIR: directory } });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  await rm(directory, { recursive: true, force: true });
});
afterEach(() => {
  upstream.calls.length = 0;
  upstream.answer = sendImages;
});

const path = '/v1/images/generations';
const generate = (more = {}, headers: Record<string, string> = {}): Promise<Answer> =>
  account.call('POST', path, { body: { model: 'gpt-image', prompt: 'a red cube', ...more }, headers });

async function finished(id: string): Promise<Record<string, any>> {
  for (;;) {
    const { body: task } = await account.call('GET', `${path}/${id}?wait=5`);
    if (task.status === 'succeeded' || task.status === 'failed') return task;
  }
}

function holdAnswers(): () => void {
  let open = () => undefined as void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  upstream.answer = async (...call) => {
    await opened;
    sendImages(...call);
  };
  return open;
}

it('async: true responds with a task before the upstream has responded, and the task has links of ours', async () => {
  const answer = holdAnswers();
  const before = Number((await account.balance()).available);
  const created = await generate({ async: true, n: 2 });
  expect(created.body).toMatchObject({
    object: 'image.generation.task',
    status: 'submitted',
    model: 'gpt-image',
  });
  expect(created.body).not.toHaveProperty('warnings');
  await expect.poll(() => upstream.calls.length).toBe(1);
  expect((await account.balance()).held).toBe('0.500000');
  answer();
  const task = await finished(created.body.id);
  expect(task).toMatchObject({ status: 'succeeded', charge: '0.080000', data: [{}, {}] });
  for (const { url } of task['data']) {
    const { pathname, search } = new URL(url);
    const file = await fetch(`${gateway.url}${pathname}${search}`);
    expect(Buffer.from(await file.arrayBuffer())).toEqual(pixel);
  }
  expect(upstream.calls).toHaveLength(1);
  expect(Number((await account.balance()).available)).toBeCloseTo(before - 0.08, 6);
  const { body: record } = await gateway.admin('GET', `/tasks/${created.body.id}`);
  expect(record).toMatchObject({ attempts: [{ state: 'accepted' }], cost: '0.060000' });
  const { body: receipt } = await account.call('GET', `${path}/${created.body.id}/receipt`);
  const sha256 = createHash('sha256').update(pixel).digest('hex');
  expect(receipt.payload.media).toEqual([
    { file: '0.png', sha256 },
    { file: '1.png', sha256 },
  ]);
});

const slowDown = Object.assign(new Error('Please reduce your request rate.'), {
  name: 'SlowDown',
  $metadata: { httpStatusCode: 503 },
});

it.each([
  ['MongoDB was away', [new MongoNetworkError('away')]],
  ['the storage was busy', [slowDown, slowDown]],
])('rendered images are kept, although %s for a moment when they arrived', async (_what, errors) => {
  const rendered = async () => finished((await generate({ async: true })).body.id);
  const { result: task, writes } = await refuseFirstCopy(gateway.core.stores, rendered, errors);
  expect(writes).toBe(errors.length + 1);
  expect(task).toMatchObject({ status: 'succeeded', data: [{}] });
  expect(upstream.calls).toHaveLength(1);
});

it('invalid images fail the task without asking an operator, because the outcome at the upstream is known', async () => {
  upstream.answer = (_, response) =>
    sendJson(response, 200, { created: 1, data: [{ b64_json: Buffer.alloc(64).toString('base64') }] });
  const before = await account.balance();
  const { body } = await generate({ async: true });
  expect(await finished(body.id)).toMatchObject({
    status: 'failed',
    error: { code: 'provider_error', message: expect.stringContaining('images that cannot be stored') },
  });
  expect(upstream.calls).toHaveLength(1);
  expect(await account.balance()).toEqual(before);
});

it('prefer: respond-async does the same for an edit with a file, once for an Idempotency-Key', async () => {
  const form = () => {
    const data = new FormData();
    data.set('model', 'gpt-image');
    data.set('prompt', 'bluer');
    data.set('image', new Blob([pixel], { type: 'image/png' }), 'cube.png');
    return data;
  };
  const headers = { prefer: 'respond-async', 'idempotency-key': 'edit-once' };
  const post = () => postForm(gateway.url, '/v1/images/edits', { key: account.key, form: form(), headers });
  const [first, second] = await Promise.all([post(), post()]);
  expect(second.body.id).toBe(first.body.id);
  expect(await finished(first.body.id)).toMatchObject({ status: 'succeeded', data: [{}] });
  expect(upstream.calls).toHaveLength(1);
  expect(upstream.calls[0]?.body.includes(pixel)).toBe(true);
  const waiting = { 'idempotency-key': 'edit-once' };
  const other = await postForm(gateway.url, '/v1/images/edits', {
    key: account.key,
    form: form(),
    headers: waiting,
  });
  expect(other.body.error.code).toBe('idempotency_key_reused');
});

it('with wait=N, the images come in the synchronous form if they are ready in time', async () => {
  const answer = await generate({}, { prefer: 'respond-async, wait=120' });
  expect(answer.body).toEqual({
    created: expect.any(Number),
    data: [{ url: expect.stringContaining('/media/'), expires_at: expect.any(Number) }],
    usage: expect.objectContaining({ total_tokens: expect.any(Number) }),
  });
});

it('its callback contains the task as it is, including links', async () => {
  const receiver = await startCallbackReceiver();
  const { body } = await generate({ async: true, metadata: { callback_url: receiver.url } });
  await receiver.waitFor(1);
  const task = await finished(body.id);
  expect(task).toMatchObject({ status: 'succeeded', data: [{ url: expect.stringContaining('/media/') }] });
  expect(receiver.received.map((callback) => callback.body)).toEqual([task]);
  await receiver.close();
});

it('an estimate accepts async, and reports the hold of the create', async () => {
  const asked = { async: true, n: 2, quality: 'high' };
  const { body: estimate } = await account.call('POST', `${path}/estimate`, {
    body: { model: 'gpt-image', prompt: 'a red cube', ...asked },
  });
  const created = await generate(asked);
  expect(created.headers['x-mediary-hold']).toContain(estimate.hold);
  expect([estimate.hold, estimate.warnings]).toEqual(['0.500000', []]);
  await finished(created.body.id);
});

it('a rejection fails the task, and costs nothing', async () => {
  upstream.answer = (_, response) =>
    sendJson(response, 400, { error: { message: 'No cubes.', code: 'content_policy_violation' } });
  const before = await account.balance();
  const { body } = await generate({ async: true });
  expect(await finished(body.id)).toMatchObject({ status: 'failed', error: { code: 'provider_error' } });
  expect(await account.balance()).toEqual(before);
  expect(upstream.calls).toHaveLength(1);
});

it('a request whose response was lost is never repeated, and an operator decides', async () => {
  upstream.answer = (_, response) => void response.destroy();
  const before = await account.balance();
  const { body } = await generate({ async: true });
  const record = async () => (await gateway.admin('GET', `/tasks/${body.id}`)).body;
  await expect.poll(async () => (await record()).situation.attention).toBe('submit_ambiguous');
  expect(upstream.calls).toHaveLength(1);
  await actOn(gateway.admin, body.id, { action: 'fail', reason: 'not in their log' });
  expect(await finished(body.id)).toMatchObject({ status: 'failed' });
  expect(await account.balance()).toEqual(before);
});

it('an image that is cancelled while it renders is delivered and charged, because the upstream made it', async () => {
  const answer = holdAnswers();
  const { body } = await generate({ async: true });
  await expect.poll(() => upstream.calls.length).toBe(1);
  const cancelling = account.call('POST', `${path}/${body.id}/cancel`);
  const stateOf = async () => (await gateway.core.stores.tasks.find(body.id))?.state;
  await expect.poll(stateOf).toMatchObject({ at: 'sending', stop: 'cancel' });
  answer();
  const refused = await cancelling;
  expect([refused.status, refused.body.error.code]).toEqual([409, 'task_not_cancellable']);
  expect(await finished(body.id)).toMatchObject({ status: 'succeeded', charge: '0.040000' });
});

it.each([
  ['the answer', {}],
  ['the task', { async: true }],
])('a repeat with the same key gets %s, although its file has been deleted by then', async (_what, more) => {
  const form = new FormData();
  form.append('file', new File([pixel], 'boat.png'));
  const store = async () => (await postForm(gateway.url, '/v1/files', { key: account.key, form })).body.id;
  const id = await store();
  const image = `asset://${id}`;
  const repeat = () => generate({ image, ...more }, { 'idempotency-key': `gone-${JSON.stringify(more)}` });
  const first = await repeat();
  expect(first.status).toBe(200);
  if ('id' in first.body) await finished(first.body.id);
  expect((await account.call('DELETE', `/v1/files/${id}`)).status).toBe(200);
  const again = await repeat();
  expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, 'true']);
  expect(again.body).toMatchObject('id' in first.body ? { id: first.body.id } : first.body);
  expect(upstream.calls).toHaveLength(1);
  const fresh = await generate({ image, ...more });
  expect([fresh.status, fresh.body.error?.param]).toEqual([400, 'image']);
});
