import { createHmac } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  replicateVersion,
  replicateWebhookSecret,
} from '../../../../src/local/simulator/dialects/replicate.ts';
import { readMp4 } from '../media/mp4-reader.ts';
import { startHarness, startReceiver } from '../support.ts';
import type { Answer, Harness, Json } from '../support.ts';

const harness: Harness = await startHarness({ renderSeconds: 8 });
beforeEach(() => {
  harness.control.reset();
  harness.control.setRenderSeconds(8);
});
afterAll(() => harness.close());

const seedance = 'bytedance/seedance-2.0';
const flux = 'black-forest-labs/flux-2-pro';
const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  harness.call(method, `/replicate/v1${path}`, body, headers);
const create = (
  input: object = {},
  {
    model = seedance,
    headers,
    ...more
  }: { model?: string; headers?: Record<string, string>; [key: string]: unknown } = {},
): Promise<Answer> =>
  call('POST', `/models/${model}/predictions`, { input: { prompt: 'a cat', ...input }, ...more }, headers);

async function idOf(answer: Promise<Answer>): Promise<string> {
  const { status, body } = await answer;
  expect({ status, body }).toMatchObject({
    status: 201,
    body: { id: expect.stringMatching(/^[a-z\d]{26}$/) },
  });
  return String(body.id);
}
const poll = async (id: string): Promise<Json> => (await call('GET', `/predictions/${id}`)).body;
const date = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);

describe('a prediction', () => {
  it('moves through its words to a video that plays, and returns its input', async () => {
    const input = { prompt: 'a cat', duration: 5, aspect_ratio: '9:16' };
    const created = await create(input, {
      webhook: 'https://i.example/hook',
      webhook_events_filter: ['completed'],
    });
    expect(created.status).toBe(201);
    const { id } = created.body;
    const get = `${harness.url}/replicate/v1/predictions/${id}`;
    const base = {
      id,
      model: seedance,
      version: 'hidden',
      input,
      output: null,
      logs: '',
      error: null,
      source: 'api',
      created_at: date,
      data_removed: false,
      webhook: 'https://i.example/hook',
      webhook_events_filter: ['completed'],
      urls: { get, cancel: `${get}/cancel`, web: expect.any(String) },
    };
    expect(created.body).toEqual({ ...base, status: 'starting' });
    harness.control.advance(4);
    expect(await poll(id)).toEqual({ ...base, status: 'processing', started_at: date });
    harness.control.advance(5);
    const ended = await poll(id);
    expect(ended).toEqual({
      ...base,
      status: 'succeeded',
      output: expect.any(String),
      started_at: date,
      completed_at: date,
      metrics: { predict_time: 7, total_time: 8, video_output_duration_seconds: 5 },
    });
    const file = Buffer.from(await (await fetch(ended.output)).arrayBuffer());
    const { width, height } = readMp4(file);
    expect(height / width).toBeCloseTo(16 / 9, 1);
  });

  it('loses its data, and its file, an hour after its end', async () => {
    const id = await idOf(create());
    harness.control.advance(8 + 3599);
    const { output } = await poll(id);
    expect((await fetch(output)).status).toBe(200);
    harness.control.advance(1);
    expect(await poll(id)).toMatchObject({
      status: 'succeeded',
      input: {},
      output: null,
      data_removed: true,
    });
    expect((await fetch(output)).status).toBe(403);
  });

  it.each([
    ['a list', 'docs-shape', (output: Json) => output[0]],
    ['an object', 'docs-shape=object', (output: Json) => output.video],
  ])('may answer with %s, and times alone', async (_, fault, linkIn) => {
    const id = await idOf(create({ prompt: `x [sim:${fault}]` }));
    harness.control.advance(9);
    const { output, metrics } = await poll(id);
    expect(typeof output).toBe('object');
    expect((await fetch(linkIn(output))).status).toBe(200);
    expect(Object.keys(metrics)).toEqual(['predict_time', 'total_time']);
  });

  it.each([
    ['failed', 'Prediction interrupted; please retry (code: PA)'],
    ['failed=E006', 'Invalid input: could not download the file. (E006)'],
    ['moderation', expect.stringContaining('(E005)')],
    ['moderation-in-task', expect.stringContaining('(E005)')],
  ])('fails with %s in words', async (fault, error) => {
    const id = await idOf(create({ prompt: `x [sim:${fault}]` }));
    harness.control.advance(9);
    expect(await poll(id)).toMatchObject({ status: 'failed', output: null, error });
  });

  it.each([
    [0, 'aborted'],
    [4, 'canceled'],
    [9, 'succeeded'],
  ])('after %d s, is cancelled to %s', async (seconds, status) => {
    const id = await idOf(create());
    harness.control.advance(seconds);
    const answer = await call('POST', `/predictions/${id}/cancel`);
    expect([answer.status, answer.body.status]).toEqual([200, status]);
    expect((await poll(id)).status).toBe(status);
  });
});

describe('a creation', () => {
  it.each([
    ['an official model', '/predictions', { version: seedance }],
    ['a version of a model', '/predictions', { version: `${seedance}:${replicateVersion(seedance)}` }],
    ['a version', '/predictions', { version: replicateVersion(seedance) }],
    ['a deployment', '/deployments/acme/seedance-2.0/predictions', {}],
  ])('may name %s', async (_, path, more) => {
    const answer = await call('POST', path, { input: { prompt: 'x' }, ...more });
    expect([answer.status, answer.body.model]).toEqual([201, seedance]);
    expect(answer.body.version).toBe('version' in more ? more.version : 'hidden');
  });

  it.each([
    ['no text', seedance, { prompt: undefined }, 'prompt'],
    ['an unknown field', seedance, { fps: 24 }, ''],
    ['a length in a string', seedance, { duration: '5' }, 'duration'],
    ['a ratio of words', seedance, { aspect_ratio: 'wide' }, 'aspect_ratio'],
    ['no address', seedance, { image: 'a.png' }, 'image'],
    ['a GIF', flux, { output_format: 'gif' }, 'output_format'],
  ])('is refused for %s', async (_, model, input, path) => {
    const { status, body } = await create(input, { model });
    expect(status).toBe(422);
    const field = path === '' ? 'input' : `input.${path}`;
    expect(body).toEqual({
      title: 'Input validation failed',
      detail: expect.any(String),
      status: 422,
      invalid_fields: [{ field: expect.any(String), description: expect.any(String) }],
    });
    expect(body.invalid_fields[0].field).toBe(field);
  });

  it.each([
    ['no version', '/predictions', {}, 422, 'Input validation failed'],
    [
      'an unknown version',
      '/predictions',
      { version: 'a'.repeat(64) },
      422,
      'Invalid version or not permitted',
    ],
    ['an unknown model', '/models/acme/none/predictions', {}, 404, 'Not found'],
    ['an unknown deployment', '/deployments/acme/none/predictions', {}, 404, 'Not found'],
    [
      'an unknown event',
      `/models/${seedance}/predictions`,
      { webhook_events_filter: ['end'] },
      422,
      'Input validation failed',
    ],
  ])('is refused with %s', async (_, path, more, ...[status, title]) => {
    const answer = await call('POST', path, { input: { prompt: 'x' }, ...more });
    expect([answer.status, answer.body.title]).toEqual([status, title]);
  });
});

describe('the list', () => {
  it('has pages of 100, newest first, each of which says where the next is', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 101; index += 1) ids.unshift(await idOf(create()));
    const { body } = await call('GET', '/predictions');
    expect(body.results.map(({ id }: Json) => id)).toEqual(ids.slice(0, 100));
    expect(body.results[0]).toMatchObject({ input: { prompt: 'a cat' }, status: 'starting' });
    const rest = await call('GET', String(body.next).slice(`${harness.url}/replicate/v1`.length));
    expect(rest.body).toMatchObject({ next: null, previous: null, results: [{ id: ids[100] }] });
  });

  it('takes times, and nothing from the web', async () => {
    const one = await idOf(create());
    harness.control.advance(60);
    const two = await idOf(create());
    const { created_at: at } = await poll(two);
    const before = new Date(Date.parse(at) - 1).toISOString();
    const listed = async (query: string) =>
      (await call('GET', `/predictions?${query}`)).body.results.map(({ id }: Json) => id);
    expect(await listed(`created_after=${at}`)).toEqual([two]);
    expect(await listed(`created_before=${before}`)).toEqual([one]);
    expect(await listed('source=web')).toEqual([]);
    expect((await call('GET', '/predictions?created_after=soon')).status).toBe(400);
  });
});

it('calls back at the events that were asked for, signed with the secret that it hands out', async () => {
  const receiver = await startReceiver();
  try {
    await idOf(create({}, { webhook: receiver.url }));
    await idOf(create({}, { webhook: receiver.url, webhook_events_filter: ['completed'] }));
    harness.control.advance(4);
    await receiver.waitFor(1);
    harness.control.advance(5);
    await receiver.waitFor(3);
    expect(receiver.received.map(({ body }) => body.status)).toEqual([
      'processing',
      'succeeded',
      'succeeded',
    ]);
    const { key } = (await call('GET', '/webhooks/default/secret')).body;
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
