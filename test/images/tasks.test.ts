import { BSON } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { presentImageUsage } from '../../src/http/presenters/image-usage.ts';
import { pauseFirstAt } from '../support/race.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { postForm, type Answer, type TestAccount } from '../support/client.ts';
import { pixel, png, sendImages, sendJson, startImageUpstream, type ImageUpstream } from './support.ts';
import { startCallbackReceiver, type CallbackReceiver } from '../support/callback-receiver.ts';

let upstream: ImageUpstream;
let receiver: CallbackReceiver;
let gateway: TestGateway;
let account: TestAccount;
let tasks = 0;
let state: 'RUNNING' | 'SUCCEEDED' | 'FAILED';
let report: { readonly more: number; readonly size?: string };
let opens: number;
let reported: { readonly code: string; readonly message: string };

beforeAll(async () => {
  upstream = await startImageUpstream();
  receiver = await startCallbackReceiver([200]);
  gateway = await startGateway({ yaml: yaml(upstream.url) });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  await receiver.close();
});
beforeEach(() => {
  report = { more: 0 };
  opens = Infinity;
  reported = { code: 'DataInspectionFailed', message: 'Output data may be unsafe.' };
});
afterEach(() => {
  upstream.calls.length = 0;
  receiver.received.length = 0;
});

function answerAsTask(): void {
  const origin = new URL(upstream.url).origin;
  const opened = new Map<string, number>();
  upstream.answer = (call, response) => {
    if (call.path.endsWith('/image-synthesis')) {
      const n = call.json['parameters'].n;
      sendJson(response, 200, {
        output: { task_id: `up-${(tasks += 1)}-${n}`, task_status: 'PENDING' },
        request_id: 'r',
      });
      return;
    }
    if (call.path.includes('.png')) {
      const times = (opened.get(call.path) ?? 0) + 1;
      opened.set(call.path, times);
      return times > opens ? sendJson(response, 404, {}) : void response.end(pixel);
    }
    if (!call.path.includes('/tasks/')) return sendImages(call, response);
    const task_id = call.path.split('/').at(-1) ?? '';
    const count = Number(task_id.split('-')[2]) + report.more;
    const results = Array.from({ length: count }, (_, n) => ({
      url: `${origin}/${task_id}/${n}.png?Expires=1900000000`,
    }));
    sendJson(response, 200, {
      request_id: 'r',
      output: {
        task_id,
        task_status: state,
        ...(state === 'SUCCEEDED' ? { results } : {}),
        ...(state === 'FAILED' ? reported : {}),
      },
      usage: { image_count: results.length, size: report.size },
    });
  };
}

const path = '/v1/images/generations';
const body = { model: 'wan', prompt: 'a red cube' };
const generate = (more = {}, headers: Record<string, string> = {}): Promise<Answer> =>
  account.call('POST', path, { body: { ...body, ...more }, headers });

async function finished(id: string): Promise<Record<string, any>> {
  for (;;) {
    const { body: task } = await account.call('GET', `${path}/${id}?wait=5`);
    if (task.status === 'succeeded' || task.status === 'failed') return task;
  }
}

it('create responds with a task, which is queried, listed, called back and paid for', async () => {
  state = 'SUCCEEDED';
  answerAsTask();
  const created = await generate({ n: 2, metadata: { callback_url: receiver.url } });
  expect(created.status).toBe(200);
  expect(created.body).toEqual({
    id: expect.stringMatching(/^task_/),
    task_id: created.body.id,
    object: 'image.generation.task',
    status: 'submitted',
    message: expect.any(String),
    model: 'wan',
    created_at: expect.any(Number),
  });
  const task = await finished(created.body.id);
  const links = `${new URL(upstream.url).origin}/up-${tasks}-2`;
  expect(task).toMatchObject({
    object: 'image.generation.task',
    status: 'succeeded',
    data: [
      { url: `${links}/0.png?Expires=1900000000`, expires_at: 1_900_000_000 },
      { url: `${links}/1.png?Expires=1900000000` },
    ],
    usage: { completion_tokens: 0, total_tokens: 0 },
    charge: '0.040000',
  });
  expect(task).not.toHaveProperty('video_url');
  expect(await account.balance()).toMatchObject({ available: '99.960000', held: '0.000000' });
  await expect.poll(() => receiver.received.length).toBe(1);
  expect(receiver.received[0]?.body).toEqual(task);
  const list = await account.call('GET', `${path}?limit=5`);
  expect(list.body.data[0]).toEqual(task);
  expect((await account.call('GET', `/v1/videos/generations/${created.body.id}`)).status).toBe(404);
  const { body: record } = await gateway.admin('GET', `/tasks/${created.body.id}`);
  expect(record.request_id).toBe(created.headers['x-request-id']);
  const stranger = await gateway.account();
  expect((await stranger.call('GET', `${path}/${created.body.id}`)).status).toBe(404);
  expect((await account.call('GET', `${path}/`)).body.error).toMatchObject({ code: 'missing_parameter' });
});

it.each([
  ['more images than were asked for', { more: 1 }, '0.020000'],
  ['a size of its own', { more: 0, size: '1280*1280' }, '0.020000'],
])('an upstream that reports %s does not change the charge', async (_, reported, charge) => {
  state = 'SUCCEEDED';
  report = reported;
  answerAsTask();
  const created = await generate({ model: 'wan-sized', size: '1024x1024' });
  expect(created.status).toBe(200);
  expect(await finished(created.body.id)).toMatchObject({ status: 'succeeded' });
  const { body: record } = await gateway.admin('GET', `/tasks/${created.body.id}`);
  expect(record).toMatchObject({ situation: { name: 'ended' }, charge });
});

it('an unused field is named in the task, its repetition and the images', async () => {
  state = 'SUCCEEDED';
  answerAsTask();
  const body = { sede: 7, quality: 'high', metadata: { n: 2, execution_expires_after: 600 } };
  const key = { 'idempotency-key': 'with-warnings' };
  const { body: created } = await generate(body, key);
  expect(created).toMatchObject({ status: 'submitted', warnings: ['metadata.n', 'quality', 'sede'] });
  expect((await generate(body, key)).body).toEqual(created);
  await finished(created.id);
  const waited = await generate({ sede: 7, seed: 7 }, { prefer: 'wait=120' });
  expect(waited.body).toMatchObject({ data: [{}], warnings: ['sede'] });
});

it('with prefer: wait, the images come at once if they are ready in time', async () => {
  state = 'SUCCEEDED';
  answerAsTask();
  const answer = await generate({}, { prefer: 'wait=120' });
  expect(answer.body).toEqual({
    created: expect.any(Number),
    data: [{ url: expect.stringMatching(/^http:/), expires_at: 1_900_000_000 }],
    usage: presentImageUsage({}),
  });
  state = 'RUNNING';
  const late = await generate({}, { prefer: 'respond-async, wait=1' });
  expect(late.body).toMatchObject({ object: 'image.generation.task', status: 'submitted' });
  state = 'SUCCEEDED';
  expect(await finished(late.body.id)).toMatchObject({ status: 'succeeded' });
});

it('a failure costs nothing, as task and in the synchronous form', async () => {
  state = 'FAILED';
  answerAsTask();
  const before = await account.balance();
  const { body: created } = await generate();
  expect(await finished(created.id)).toMatchObject({
    status: 'failed',
    error: { code: 'provider_error' },
    data: [],
  });
  const waited = await generate({}, { prefer: 'wait=120' });
  expect([waited.status, waited.headers['x-should-retry']]).toEqual([400, 'false']);
  expect(waited.body.error.code).toBe('content_policy_violation');
  expect(await account.balance()).toEqual(before);
});

it.each([
  ['DataInspectionFailed', 400, 'content_policy_violation', 'prompt'],
  ['InvalidParameter', 400, 'invalid_parameter', 'prompt'],
  ['InternalError', 500, 'provider_error', ''],
])(
  'a task that ends with %s is a %i %s to a caller who waits for its images',
  async (code, status, ours, param) => {
    state = 'FAILED';
    reported = { code, message: 'No.' };
    answerAsTask();
    const waited = await generate({}, { prefer: 'wait=120' });
    expect([waited.status, waited.headers['x-should-retry']]).toEqual([status, 'false']);
    expect(waited.body.error).toMatchObject({ code: ours, param });
    const streamed = await account.call('POST', path, { body: { ...body, stream: true } });
    expect(streamed.text).toContain(`"code":"${ours}"`);
  },
);

it('a deadline ends the task and releases the hold', async () => {
  state = 'RUNNING';
  answerAsTask();
  const before = await account.balance();
  const { body: created } = await generate({ metadata: { execution_expires_after: 3 } });
  expect(await finished(created.id)).toMatchObject({ status: 'failed', error: { code: 'task_expired' } });
  await expect.poll(() => account.balance()).toEqual(before);
});

it('the same Idempotency-Key gets the same task', async () => {
  state = 'SUCCEEDED';
  answerAsTask();
  const key = { 'idempotency-key': 'k1' };
  const [first, second] = await Promise.all([generate({}, key), generate({}, key)]);
  expect(second.body.id).toBe(first.body.id);
  await finished(first.body.id);
  const again = await generate({}, { ...key, prefer: 'wait=5' });
  expect(again.headers).toMatchObject({ 'idempotency-replayed': 'true', 'x-mediary-image': first.body.id });
  expect(again.headers).not.toHaveProperty('x-mediary-cost');
  expect(again.body.data).toHaveLength(1);
  expect(upstream.calls.filter(({ path: called }) => called.endsWith('/image-synthesis'))).toHaveLength(1);
});

describe('a client that repeats automatically', () => {
  const retries = (count: number) => ({ 'x-stainless-retry-count': String(count) });
  const claims = () => gateway.core.mongo.db.collection('idempotency');
  const claimed = (task: string) => expect.poll(() => claims().countDocuments({ made: task })).toBe(1);

  it('gets the task of its first try, which is found by its id', async () => {
    state = 'SUCCEEDED';
    answerAsTask();
    const asked = { prompt: 'a repeated cube' };
    const first = await generate(asked, retries(0));
    await claimed(first.body.id);
    const again = await generate(asked, retries(1));
    expect(again.body.id).toBe(first.body.id);
    expect(again.body.created_at).toBe(first.body.created_at);
    expect(again.headers['idempotency-replayed']).toBe('true');
    await finished(first.body.id);
    const late = await generate(asked, { ...retries(2), prefer: 'wait=120' });
    expect(late.body.data).toHaveLength(1);
    await expect.poll(() => claims().countDocuments({ made: first.body.id })).toBe(3);
    expect(await gateway.core.mongo.db.collection('image_result_bodies').countDocuments({})).toBe(0);
    expect(await claims().countDocuments({ made: first.body.id, answer: { $exists: true } })).toBe(0);
  });

  it('creates one task while its first try is still running', async () => {
    state = 'SUCCEEDED';
    answerAsTask();
    const asked = { prompt: 'an impatient cube' };
    const before = await claims().countDocuments({});
    const holding = pauseFirstAt('ledger.append');
    const first = generate(asked, retries(0));
    await holding.reached;
    await expect.poll(() => claims().countDocuments({})).toBe(before + 1);
    const again = generate(asked, retries(1));
    holding.release();
    const ids = [(await first).body.id, (await again).body.id];
    expect(ids[1]).toBe(ids[0]);
    expect((await again).headers['idempotency-replayed']).toBe('true');
    await finished(ids[0]);
  });

  it('creates another one if it does not mark the repeat', async () => {
    state = 'SUCCEEDED';
    answerAsTask();
    const asked = { prompt: 'two cubes' };
    const ids = [await generate(asked, retries(0)), await generate(asked, retries(0))].map(
      ({ body: { id } }) => id,
    );
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) await finished(id);
  });

  it('continues with the task that a dead process has claimed and never created', async () => {
    state = 'SUCCEEDED';
    answerAsTask();
    const asked = { prompt: 'an orphaned cube' };
    const { body: first } = await generate(asked, retries(0));
    const orphan = 'task_0123456789abcdefghijklmn';
    await claimed(first.id);
    await claims().updateOne({ made: first.id }, { $set: { made: orphan } });
    const again = await generate(asked, retries(1));
    expect([again.status, again.body.id]).toEqual([200, orphan]);
    expect(await finished(orphan)).toMatchObject({ status: 'succeeded' });
    await finished(first.id);
  });

  it('may retry with another task if nothing was created', async () => {
    state = 'SUCCEEDED';
    answerAsTask();
    const poor = await gateway.account({ credit: '0' });
    const ask = (count: number) => poor.call('POST', path, { body, headers: retries(count) });
    expect((await ask(0)).status).toBe(402);
    await gateway.admin('POST', `/admin/v1/accounts/${poor.id}/credits`, { amount: '1', reference: 'more' });
    const created = await ask(1);
    expect(created.status).toBe(200);
    await poor.call('GET', `${path}/${created.body.id}?wait=30`);
  });
});

describe('reference images', () => {
  it('of a form are sent as data', async () => {
    state = 'SUCCEEDED';
    answerAsTask();
    const form = new FormData();
    form.append('model', 'wan-edit');
    form.append('prompt', 'make it blue');
    form.append('image', new File([new Uint8Array(png(2, 2))], 'a.png'));
    const response = await fetch(`${gateway.url}/v1/images/edits`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.key}`, prefer: 'wait=120' },
      body: form,
    });
    expect(response.status).toBe(200);
    const call = upstream.calls.find(({ path: called }) => called.endsWith('/image-synthesis'));
    expect(call?.json['input'].base_image_url).toBe(`data:image/png;base64,${png(2, 2).toString('base64')}`);
  });

  it('of the maximum size fit into a document, with a megabyte of text', async () => {
    state = 'SUCCEEDED';
    answerAsTask();
    const image = png(1, 1, 9 * 1024 * 1024 - png(1, 1, 1).length + 1).toString('base64');
    expect(image).toHaveLength(12 * 1024 * 1024);
    const note = 'x'.repeat(1_000_000);
    const answer = await account.call('POST', '/v1/images/edits', {
      body: { ...body, model: 'wan-edit', image: `data:image/png;base64,${image}`, note },
      headers: { prefer: 'wait=120' },
    });
    expect(answer.status).toBe(200);
    const call = upstream.calls.find(({ path: called }) => called.endsWith('/image-synthesis'));
    expect(call?.json['input'].base_image_url === `data:image/png;base64,${image}`).toBe(true);
    const newest = gateway.core.mongo.db.collection('requests').find({}).sort({ expires: -1 }).limit(1);
    const [stored = {}] = await newest.toArray();
    const megabyte = 1024 * 1024;
    expect(BSON.calculateObjectSize(stored)).toBeGreaterThan(12 * megabyte);
    // Check the size here: MongoDB would reject a larger document, but the stand-in accepts it.
    expect(BSON.calculateObjectSize(stored)).toBeLessThan(16 * megabyte);
  });

  it('do not fit next to text that is six times as long in JSON: a 413', async () => {
    const form = new FormData();
    form.append('model', 'wan-edit');
    form.append('prompt', 'make it blue');
    form.append('note', '\u0001'.repeat(400_000));
    form.append('image', new File([new Uint8Array(png(2, 2))], 'a.png'));
    const answer = await postForm(gateway.url, '/v1/images/edits', { form, key: account.key });
    expect([answer.status, answer.body.error.code]).toEqual([413, 'request_too_large']);
    expect(answer.body.error.message).toContain('at most 2097152 bytes as JSON, not counting the images');
  });

  it('larger than a document are a 413', async () => {
    answerAsTask();
    const image = `data:image/png;base64,${png(1, 1, 10 * 1024 * 1024).toString('base64')}`;
    const answer = await account.call('POST', '/v1/images/edits', {
      body: { ...body, model: 'wan-edit', image },
    });
    expect(answer.status).toBe(413);
    expect(answer.body.error).toMatchObject({ code: 'request_too_large', param: 'image' });
  });
});

describe('a model with channels of both kinds', () => {
  it('never mixes them, because the first candidate decides', async () => {
    state = 'SUCCEEDED';
    answerAsTask();
    const answer = await generate({ model: 'both' });
    expect(answer.body.data[0].b64_json).toBe(pixel.toString('base64'));
    upstream.calls.length = 0;
    upstream.answer = (_call, response) =>
      sendJson(response, 429, { error: { code: 'rate_limit_exceeded', message: 'Slow down.' } });
    expect((await generate({ model: 'both' })).status).toBe(503);
    expect(upstream.calls.map(({ path: called }) => called)).toEqual(['/v1/images/generations']);
  });
});

describe('b64_json', () => {
  const form = { response_format: 'b64_json' };
  beforeEach(() => {
    state = 'SUCCEEDED';
    answerAsTask();
  });

  it('is returned to a caller who waits', async () => {
    const { status, body: answer } = await generate(form, { prefer: 'wait=120' });
    expect([status, answer.data]).toEqual([200, [{ b64_json: pixel.toString('base64') }]]);
    expect(answer).not.toHaveProperty('warnings');
  });

  it('is replaced by links for paid images that cannot be fetched', async () => {
    opens = 1;
    const { status, body: answer } = await generate(form, { prefer: 'wait=120' });
    expect([status, answer.data]).toEqual([200, [expect.objectContaining({ url: expect.any(String) })]]);
  });

  it('is named as ignored if the response is a task', async () => {
    const { body: created } = await generate(form);
    expect(created.warnings).toEqual(['response_format']);
    expect((await finished(created.id))['data'][0].url).toMatch(/^http/);
  });
});

function yaml(url: string): string {
  const common =
    'kind: image, n: { max: 4 }, expected_seconds: 1, price: { lines: [{ measure: image, price: "0.02" }] }';
  return `
currency: USD
channels:
  - id: tasks
    provider: dashscope
    base_url: ${url}
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    limits: { submits_per_second: 100, polls_per_second: 100 }
    models:
      wan: { upstream: wanx2.1-t2i-turbo }
      wan-edit: { upstream: wanx2.1-imageedit }
      both: { upstream: wanx2.1-t2i-turbo }
      wan-sized: { upstream: wanx2.1-t2i-turbo }
  - id: at-once
    provider: openai
    base_url: ${url}
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    priority: 10
    credentials: [{ id: a, api_key: simulated }]
    models: { both: { upstream: gpt-image-1.5 } }
models:
  - { id: wan, ${common} }
  - { id: wan-edit, inputs: { images: { max: 3 } }, ${common} }
  - { id: both, ${common} }
  - id: wan-sized
    kind: image
    n: { max: 4 }
    expected_seconds: 1
    price: { lines: [{ measure: image, when: { size: ["1024x1024"] }, price: "0.02" }, { measure: image, price: "0.06" }] }
`;
}
