import { createHash, createPublicKey, verify } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readMp4 } from '../media/mp4-reader.ts';
import { startHarness, startReceiver } from '../support.ts';
import type { Answer, Harness, Json } from '../support.ts';

const harness: Harness = await startHarness({ renderSeconds: 8, apiKeys: ['test-key', 'admin-key'] });
beforeEach(() => {
  harness.control.reset();
  harness.control.setRenderSeconds(8);
});
afterAll(() => harness.close());

const key = { authorization: 'Key test-key' };
const call = (method: string, path: string, body?: unknown, headers = {}): Promise<Answer> =>
  harness.call(method, `/fal${path}`, body, { ...key, ...headers });
const advance = (seconds: number) => harness.control.advance(seconds);

const seedance = 'bytedance/seedance-2.0';
const kling = 'fal-ai/kling-video/v3/pro';
const flux = 'fal-ai/flux-2-pro';
const picture = 'https://ex.com/a.png';
const song = 'https://ex.com/a.mp3';
const submit = (body: object = {}, model = `${seedance}/text-to-video`, headers = {}) =>
  call('POST', `/${model}`, { prompt: 'a cat', ...body }, headers);

async function idOf(answer: Promise<Answer>): Promise<string> {
  const { status, body } = await answer;
  expect({ status, body }).toMatchObject({ status: 200, body: { status: 'IN_QUEUE' } });
  return String(body.request_id);
}
const saying = (fault: string, model?: string) => idOf(submit({ prompt: `a cat [sim:${fault}]` }, model));
const poll = (id: string, query = '', app = seedance) => call('GET', `/${app}/requests/${id}/status${query}`);
const result = (id: string, app = seedance) => call('GET', `/${app}/requests/${id}`);
const cancel = (id: string) => call('PUT', `/${seedance}/requests/${id}/cancel`);

describe('a request', () => {
  it('is answered with addresses below the first two parts of the model', async () => {
    const { status, body } = await submit();
    const url = `${harness.url}/fal/${seedance}/requests/${body.request_id}`;
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        status: 'IN_QUEUE',
        request_id: expect.stringMatching(/^[\da-f-]{36}$/),
        queue_position: 0,
        response_url: url,
        status_url: `${url}/status`,
        cancel_url: `${url}/cancel`,
      },
    });
    expect((await call('GET', `/${seedance}/text-to-video/requests/${body.request_id}/status`)).status).toBe(
      404,
    );
    expect((await poll(body.request_id, '', 'fal-ai/flux-2-pro')).status).toBe(404);
  });

  it('is 202 until it ended, and its result 400 until then', async () => {
    const first = await idOf(submit());
    const id = await idOf(submit());
    const queued = await poll(id);
    expect([queued.status, queued.body.status, queued.body.queue_position]).toEqual([202, 'IN_QUEUE', 1]);
    expect((await poll(first)).body.queue_position).toBe(0);
    const early = await result(id);
    expect([early.status, early.body]).toEqual([400, { detail: 'Request is still in progress' }]);
    advance(4);
    const running = await poll(id, '?logs=1');
    expect([running.status, running.body.status, running.body.logs.length]).toEqual([202, 'IN_PROGRESS', 1]);
    expect((await poll(id)).body).not.toHaveProperty('logs');
    advance(5);
    const done = await poll(id);
    expect([done.status, done.body.status, done.body.error]).toEqual([200, 'COMPLETED', undefined]);
    expect(done.body.metrics).toEqual({ inference_time: 7 });
  });

  it('delivers a video that plays, and says in a header what is billed', async () => {
    const id = await idOf(submit({ duration: '4', resolution: '480p', aspect_ratio: '9:16' }));
    advance(9);
    const { status, headers, body } = await result(id);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        video: {
          url: expect.any(String),
          content_type: 'video/mp4',
          file_name: 'video.mp4',
          file_size: expect.any(Number),
        },
        seed: 42,
      },
    });
    expect([headers.get('x-fal-request-id'), headers.get('x-fal-billable-units')]).toEqual([id, '38.43']);
    const { width, height } = readMp4(Buffer.from(await (await fetch(body.video.url)).arrayBuffer()));
    expect(height / width).toBeCloseTo(16 / 9, 1);
  });

  it.each<[string, string, object, number]>([
    ['a length in a number', `${seedance}/text-to-video`, { duration: 5 }, 422],
    ['a length of its choice', `${seedance}/text-to-video`, { duration: 'auto' }, 200],
    ['2:3', `${seedance}/text-to-video`, { aspect_ratio: '2:3' }, 422],
    ['a seed', `${seedance}/text-to-video`, { seed: 1 }, 422],
    ['an end user', `${seedance}/text-to-video`, { end_user_id: 'gw-1' }, 200],
    ['frames', `${seedance}/image-to-video`, { image_url: picture, end_image_url: picture }, 200],
    ['references', `${seedance}/reference-to-video`, { image_urls: [picture], audio_urls: [song] }, 200],
    ['a frame', `${kling}/image-to-video`, { start_image_url: picture, cfg_scale: 1 }, 200],
    ['a preset', flux, { image_size: 'square_hd' }, 200],
    ['an unknown preset', flux, { image_size: '1:1' }, 422],
    ['an edit', `${flux}/edit`, { image_urls: [picture], image_size: 'auto', output_format: 'png' }, 200],
    ['a tolerance in a number', flux, { safety_tolerance: 2 }, 422],
  ])('with %s of %s', async (_, model, body, status) => {
    const id = await idOf(submit(body, model));
    advance(9);
    const app = model.split('/').slice(0, 2).join('/');
    expect((await poll(id, '', app)).body.status).toBe('COMPLETED');
    const answer = await result(id, app);
    expect([answer.status, answer.text]).toEqual([status, answer.text]);
    if (status === 422) {
      const [detail] = answer.body.detail;
      expect([detail.loc[0], typeof detail.msg, typeof detail.type]).toEqual(['body', 'string', 'string']);
      expect(answer.headers.get('x-fal-billable-units')).toBe('0');
    }
  });

  it('may be refused at once for its input', async () => {
    const { status, body } = await submit({ prompt: 'x [sim:docs-shape]', duration: 5 });
    expect([status, body.detail[0].loc]).toEqual([422, ['body', 'duration']]);
    expect(harness.control.stats().creates).toBe(0);
  });

  it.each([
    ['an unknown model', 'fal-ai/unknown', {}, 404],
    ['an unknown part of one', `${seedance}/dance`, {}, 404],
  ])('is refused for %s', async (_, model, headers, status) => {
    const answer = await submit({}, model, headers);
    expect([answer.status, typeof answer.body.detail]).toEqual([status, 'string']);
  });
});

describe('an end', () => {
  it.each<[string, number, string]>([
    ['failed', 500, 'internal_server_error'],
    ['failed=runner_disconnected', 503, 'runner_disconnected'],
    ['failed=generation_timeout', 504, 'generation_timeout'],
    ['failed=downstream_service_error', 502, 'downstream_service_error'],
    ['failed=client_disconnected', 499, 'client_disconnected'],
  ])('%s is reported by the status, too', async (fault, status, type) => {
    const id = await saying(fault);
    advance(9);
    expect((await poll(id)).body).toMatchObject({
      status: 'COMPLETED',
      error: expect.any(String),
      error_type: type,
    });
    const answer = await result(id);
    expect([answer.status, answer.body]).toEqual([status, { detail: expect.any(String), error_type: type }]);
    expect(answer.headers.get('x-fal-error-type')).toBe(type);
  });

  it.each<[string, string, string[], RegExp]>([
    ['moderation', 'content_policy_violation', ['body', 'prompt'], /flagged/],
    ['moderation-in-task', 'content_policy_violation', ['body'], /^Output/],
    ['item-error', 'no_media_generated', ['body'], /no media/],
    ['failed=file_download_error', 'file_download_error', ['body', 'image_url'], /./],
  ])('%s is reported by the result only, in a list', async (fault, type, loc, words) => {
    const id = await saying(fault);
    advance(9);
    expect((await poll(id)).body).not.toHaveProperty('error');
    const { status, body } = await result(id);
    expect({ status, body }).toEqual({
      status: 422,
      body: { detail: [{ loc, msg: expect.stringMatching(words), type, url: expect.any(String) }] },
    });
  });
});

describe('a cancel', () => {
  it('removes what waits, and only signals what runs', async () => {
    const queued = await idOf(submit());
    const answer = await cancel(queued);
    expect([answer.status, answer.body]).toEqual([200, { status: 'OK' }]);
    expect((await poll(queued)).body).toMatchObject({ status: 'COMPLETED', error_type: 'client_cancelled' });
    expect((await result(queued)).status).toBe(499);
    const running = await idOf(submit());
    advance(4);
    const signalled = await cancel(running);
    expect([signalled.status, signalled.body]).toEqual([202, { status: 'CANCELLATION_REQUESTED' }]);
    advance(5);
    expect((await result(running)).status).toBe(200);
    const late = await cancel(running);
    expect([late.status, late.body]).toEqual([400, { status: 'ALREADY_COMPLETED' }]);
    const unknown = await cancel('x');
    expect([unknown.status, unknown.body]).toEqual([404, { status: 'NOT_FOUND' }]);
  });
});

describe('the list of requests', () => {
  const list = (query: string) => call('GET', `/v1/models/requests/by-endpoint?${query}`);
  const endpoint = `endpoint_id=${seedance}/text-to-video`;
  const idsOf = async (query: string) =>
    (await list(query)).body.items.map(({ request_id }: Json) => request_id);

  it('shows what was asked for, where that is stored', async () => {
    const id = await idOf(submit({ end_user_id: 'gw-1' }));
    const [item] = (await list(`${endpoint}&expand=payloads`)).body.items;
    expect(item).toEqual({
      request_id: id,
      endpoint_id: `${seedance}/text-to-video`,
      sent_at: expect.stringMatching(/Z$/),
      started_at: null,
      json_input: { prompt: 'a cat', end_user_id: 'gw-1' },
    });
    advance(9);
    const [ended] = (await list(`${endpoint}&expand=payloads&request_id=${id}`)).body.items;
    expect(ended).toMatchObject({ status_code: 200, duration: 8, json_output: { seed: 42 } });
    expect((await list(endpoint)).body.items[0]).not.toHaveProperty('json_input');
  });

  it('is of the models that are named, by time, status and page', async () => {
    const old = await saying('failed');
    advance(3600);
    const [one, two] = [await idOf(submit()), await idOf(submit())];
    await idOf(submit({}, flux));
    expect(await idsOf(endpoint)).toEqual([two, one, old]);
    expect(await idsOf(`${endpoint},${flux}&start=2999-01-01T00:00:00Z`)).toEqual([]);
    expect(await idsOf(`${endpoint}&status=error`)).toEqual([old]);
    expect(await idsOf(`${endpoint}&status=success`)).toEqual([]);
    const page = (await list(`${endpoint}&limit=2`)).body;
    expect([page.has_more, page.items.length]).toEqual([true, 2]);
    expect(await idsOf(`${endpoint}&limit=2&cursor=${page.next_cursor}`)).toEqual([old]);
    advance(86_401);
    expect(await idsOf(endpoint)).toEqual([]);
    expect(await idsOf(`${endpoint}&request_id=${old}`)).toEqual([old]);
  });
});

describe('a callback', () => {
  const hooked = (url: string, body: object) =>
    idOf(submit(body, `${seedance}/text-to-video?fal_webhook=${encodeURIComponent(url)}`));

  async function received(body: object, count = 1) {
    const receiver = await startReceiver();
    try {
      const id = await hooked(receiver.url, { prompt: 'a cat', ...body });
      advance(4);
      advance(5);
      await receiver.waitFor(count);
      return { id, all: receiver.received };
    } finally {
      await receiver.close();
    }
  }

  it('comes at the end, with the output, signed by one of the published keys', async () => {
    const { id, all } = await received({});
    expect(all.map(({ body }) => body)).toEqual([
      {
        request_id: id,
        gateway_request_id: expect.any(String),
        status: 'OK',
        payload: { video: expect.any(Object), seed: 42 },
      },
    ]);
    const [{ headers, body } = { headers: {}, body: undefined }] = all;
    const part = (name: string) => String(new Map(Object.entries(headers)).get(`x-fal-webhook-${name}`));
    const digest = createHash('sha256').update(JSON.stringify(body)).digest('hex');
    const message = Buffer.from([part('request-id'), part('user-id'), part('timestamp'), digest].join('\n'));
    const { keys } = (
      await harness.call('GET', '/fal/.well-known/jwks.json', undefined, { authorization: '' })
    ).body;
    const fits = keys.map((jwk: Json) =>
      verify(
        null,
        message,
        createPublicKey({ key: jwk, format: 'jwk' }),
        Buffer.from(part('signature'), 'hex'),
      ),
    );
    expect(fits).toEqual([false, true]);
    expect(part('request-id')).toBe(id);
  });

  it('carries the error of a failure, or no payload where it has none', async () => {
    const failed = await received({ prompt: 'x [sim:moderation]' });
    expect(failed.all[0]?.body).toMatchObject({
      status: 'ERROR',
      payload: { detail: [{ type: 'content_policy_violation' }] },
    });
    const bare = await received({ prompt: 'x [sim:docs-shape]' });
    expect(bare.all[0]?.body).toMatchObject({
      status: 'OK',
      payload: null,
      payload_error: expect.any(String),
    });
  });
});
