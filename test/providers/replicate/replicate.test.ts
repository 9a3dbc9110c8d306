import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { VideoRequest } from '../../../src/models/request.ts';
import { replicate } from '../../../src/providers/replicate/index.ts';
import { fieldMappingSchema } from '../../../src/models/field-mapping.ts';
import { canned, fixture, providerContext, videoIssue, videoRequest, type CannedAnswer } from '../support.ts';
import { imageTables, videoTables } from '../vendor-tables.ts';

const { video, imageTask } = replicate;
if (video?.find === undefined || imageTask === undefined) throw new Error('a capability is missing');
const { find } = video;

const mapping = fieldMappingSchema.parse({
  fields: {
    prompt: 'prompt',
    first_frame: 'image',
    last_frame: 'last_frame_image',
    duration: { name: 'duration', auto: -1 },
    resolution: 'resolution',
  },
  constants: { fast: false },
  pass: ['camera_fixed'],
  marker: 'label',
  result: 'output',
  facts: { duration: 'input.duration', resolution: 'input.resolution' },
  cost: { unit: 'USD', price: '0.000225', units: 'metrics.predict_time' },
});
const model = 'bytedance/seedance-2.0';
const id = 'gm3qorzdhgbfurvjtvhg6dckhu';
const version = 'a'.repeat(64);
const a = 'https://ex.com/a.png';

const videos = videoTables(video, {
  model,
  mapping,
  operation: { id },
  created: { status: 201, json: fixture('replicate/created') },
});
const images = imageTables(imageTask, { mapping, operation: { id } });

describe('a submission', () => {
  const input = { prompt: 'a fox in the snow', fast: false, label: 'mediary-t1-1' };

  it.each([
    [model, `/models/${model}/predictions`, {}],
    [version, '/predictions', { version }],
    [`some-one/a_model:${version}`, '/predictions', { version: `some-one/a_model:${version}` }],
    ['deployments/acme/fast', '/deployments/acme/fast/predictions', {}],
  ])('to %s', async (name, path, body) => {
    expect(videoIssue(video, videoRequest(), name, mapping)).toBeUndefined();
    const { submitted, sent, path: found } = await videos.sentFor({}, name);
    expect(submitted).toEqual({ operation: { id }, traceId: id });
    expect(found).toBe(path);
    expect(sent).toMatchObject({ method: 'POST', headers: { authorization: 'Bearer test-key' } });
    expect(sent?.json).toEqual({ ...body, input });
  });

  it('maps its fields, and calls back once, at our own address', async () => {
    const asked: Partial<VideoRequest> = {
      firstFrame: a,
      lastFrame: `${a}?2`,
      duration: 'auto',
      resolution: '1080p',
      extra: { camera_fixed: true, webhook: 'https://evil.example', input: {} },
    };
    expect(videoIssue(video, videoRequest(asked), model, mapping)).toBeUndefined();
    const callbackUrl = 'https://gw.example/callbacks/upstream/t1/secret';
    const { sent } = await videos.sentFor(asked, model, { callbackUrl });
    expect(sent?.json).toEqual({
      input: {
        ...input,
        image: a,
        last_frame_image: `${a}?2`,
        duration: -1,
        resolution: '1080p',
        camera_fixed: true,
      },
      webhook: 'https://gw.example/callbacks/upstream/t1/secret?attempt=mediary-t1-1',
      webhook_events_filter: ['completed'],
    });
  });

  videos.checks([
    ['a field without a name', { seed: 1 }, model, 'metadata.seed'],
    ['references', { references: [a] }, model, 'images'],
    ['a name that is none', {}, 'seedance', 'model'],
    ['a path', {}, '../../admin/x', 'model'],
  ]);
});

const pictureMapping = fieldMappingSchema.parse({
  fields: { prompt: 'prompt', images: 'input_images', size: { name: ['width', 'height'], form: 'sides' } },
  constants: { aspect_ratio: 'custom' },
  result: 'output',
});
imageTables(imageTask, { mapping: pictureMapping, created: { status: 201, json: fixture('replicate/created') } }).sends([
  ['the mapped fields of an image', { size: '1024x512', images: [{ form: 'url', url: a }] }, 'black-forest-labs/flux-2-pro',
    { input: { prompt: 'a red cube', input_images: [a], width: 1024, height: 512, aspect_ratio: 'custom' } }],
], () => ({})); // prettier-ignore

const succeeded = (output: unknown, over: object = {}) => ({
  json: { id, status: 'succeeded', output, completed_at: '2026-11-21T10:00:45Z', ...over },
});

describe('a prediction', () => {
  it('that succeeded has a link that is valid for an hour, and facts and a cost by the mapping', async () => {
    const { status, sent } = await videos.polled({ json: fixture('replicate/succeeded') });
    const [expiresAt, endedAt] = [
      Date.UTC(2026, 10, 21, 11, 0, 45) / 1000,
      Date.UTC(2026, 10, 21, 10, 0, 45),
    ];
    expect(status).toEqual({
      state: 'succeeded',
      items: [{ url: 'https://files.example.com/a.mp4', expiresAt }],
      facts: { durationSeconds: 5, resolution: '720p' },
      cost: { amount: '0.00927', unit: 'USD' },
      endedAt,
    });
    expect(sent[0]).toMatchObject({
      method: 'GET',
      url: `https://upstream.example/api/v3/predictions/${id}`,
    });
  });

  it.each<[string, unknown, number]>([
    ['a text', `${a}`, 1],
    ['a list', [a, a], 2],
    ['an object', { video: a, thumbnail: { url: a } }, 2],
  ])('has its files as %s', async (_, output, count) => {
    const status = await images.statusOf(succeeded(output));
    expect(status).toMatchObject({ state: 'succeeded', facts: { images: count } });
    expect(status?.state === 'succeeded' && status.items.map(({ url }) => url)).toEqual(
      Array.from({ length: count }, () => a),
    );
  });

  it('can also be read without a mapping, because its model may have left the channel', async () => {
    const unmapped = videoTables(video, { operation: { id } });
    expect(await unmapped.statusOf(succeeded([a]))).toMatchObject({ state: 'succeeded', facts: {} });
  });

  videos.readsPart([
    ['starting', { json: fixture('replicate/created') }, { state: 'pending', phase: 'submitted' }],
    ['processing', { json: { id, status: 'processing' } }, { state: 'pending', phase: 'running' }],
    ['of a new word', { json: { id, status: 'queued' } }, { state: 'pending', phase: 'running' }],
    ['without a word', { json: { id } }, { state: 'pending', phase: 'running' }],
    ['flagged', { json: fixture('replicate/failed') }, { state: 'failed', code: 'E005', failure: { class: 'moderation_output' } }],
    ['failed', { json: { id, status: 'failed', error: 'CUDA out of memory' } }, { state: 'failed', code: 'failed', failure: { class: 'internal' } }],
    ['failed without words', { json: { id, status: 'failed' } }, { state: 'failed', message: 'The upstream gave no reason.' }],
    ['canceled', { json: { id, status: 'canceled' } }, { state: 'failed', code: 'upstream_cancelled', failure: { class: 'cancelled' } }],
    ['canceled after it had started', { json: { id, status: 'canceled', metrics: { predict_time: 40 } } },
      { state: 'failed', code: 'upstream_cancelled', cost: { amount: '0.009', unit: 'USD' } }],
    ['aborted', { json: { id, status: 'aborted' } }, { state: 'failed', code: 'upstream_cancelled', failure: { class: 'cancelled' } }],
    ['finished without an output', succeeded(null), { state: 'failed', code: 'no_output', failure: { class: 'moderation_output' } }],
    ['finished long ago', succeeded(null, { data_removed: true }), { state: 'failed', code: 'data_removed', failure: { class: 'expired' } }],
  ]); // prettier-ignore

  videos.readsNoState([
    ['it is not known', { status: 404, json: { detail: 'Prediction not found', status: 404 } }, true, 'unknown_job'],
    ['its output holds no address', succeeded({ text: 'done' }), false, 'unreadable_answer'],
    ['trouble', { status: 500, json: { detail: 'm' } }, false, 'http_500'],
  ]); // prettier-ignore
});

const prediction = (status: string): CannedAnswer => ({ json: { id, status } });
const unknownPrediction: CannedAnswer = { status: 404, json: { detail: 'Not found' } };
videos.cancels(
  [
    ...['canceled', 'aborted', 'processing', 'starting'].map(
      (status) =>
        [
          `a prediction that is then ${status}`,
          [prediction('starting'), prediction(status)],
          'cancelled',
        ] as const,
    ),
    ...['succeeded', 'failed'].map(
      (status) =>
        [
          `a prediction that has then ${status}`,
          [prediction('starting'), prediction(status)],
          'refused',
        ] as const,
    ),
    ['a prediction that is then unknown', [prediction('starting'), unknownPrediction], 'gone'],
  ],
  ([asked, sent]) => {
    const url = `https://upstream.example/api/v3/predictions/${id}`;
    expect(asked).toMatchObject({ method: 'GET', url });
    expect(sent).toMatchObject({ method: 'POST', url: `${url}/cancel` });
  },
);
videos.cancels(
  [
    ...['canceled', 'aborted'].map(
      (status) => [`nothing of a prediction that is ${status}`, prediction(status), 'cancelled'] as const,
    ),
    ...['processing', 'succeeded', 'failed', 'new'].map(
      (status) => [`nothing of a prediction that is ${status}`, prediction(status), 'refused'] as const,
    ),
    ['nothing of an unknown prediction', unknownPrediction, 'gone'],
  ],
  (sent) => expect(sent).toHaveLength(1),
);

describe('a lost prediction', () => {
  const lost = { request: videoRequest(), marker: 'mediary-t1-1', sentAfter: 0, sentBefore: 60_000 };

  it('is found by its callback URL, or by its marker, on any page', async () => {
    const last = {
      json: {
        next: null,
        results: [
          { id: 'three', input: { label: 'mediary-t1-1' } },
          { id: 'two', webhook: 'https://gw.example/x?attempt=mediary-t1-1' },
          7,
        ],
      },
    };
    const upstream = canned({ json: fixture('replicate/list') }, last);
    const found = await find(lost, providerContext({ request: upstream.request, mapping }));
    expect(found.map(({ operation }) => operation.id)).toEqual(['two', 'three']);
    const [first, second] = upstream.sent.map(({ url }) => new URL(url));
    expect(Object.fromEntries(first?.searchParams ?? [])).toEqual({
      created_after: '1970-01-01T00:00:00.000Z',
      created_before: '1970-01-01T00:01:00.000Z',
    });
    // The key may be sent only to the configured host, whichever host a page of the list names.
    expect(second?.href).toBe('https://upstream.example/api/v3/predictions?cursor=abc');
  });

  it('is not confused with the prediction of another attempt', async () => {
    const page = {
      json: {
        next: null,
        results: [
          { id: 'one', webhook: 'https://gw.example/x?attempt=mediary-t1-2' },
          { id: 'two', input: { label: 'mediary-t1-11' } },
          { id: 'three', webhook: 'no address' },
        ],
      },
    };
    expect(await find(lost, providerContext({ request: canned(page).request, mapping }))).toEqual([]);
  });
});

describe('a refusal', () => {
  const { refusalOf: refused } = videos;

  it('names the field of the input', async () => {
    expect(await refused({ status: 422, json: fixture('replicate/refused') })).toMatchObject({
      outcome: 'rejected',
      code: 'http_422',
      failure: { class: 'invalid_input', field: 'duration' },
    });
  });

  it.each([
    ['a header', { headers: { 'retry-after': '30' } }],
    ['the body', { json: { detail: 'Request was throttled.', status: 429, retry_after: 30 } }],
  ])('for the rate limit states the wait in %s', async (_, answer) => {
    const error = await refused({ status: 429, json: { detail: 'Request was throttled.' }, ...answer });
    expect([error.outcome, error.retryAfterMs]).toEqual(['throttled', 30_000]);
  });
});

describe('a callback', () => {
  const now = Date.UTC(2026, 10, 22);
  const secret = `whsec_${Buffer.from('secret').toString('base64')}`;
  const body = { id, status: 'succeeded' };
  const signed = (at: number, key = 'secret') => {
    const timestamp = String(Math.floor(at / 1000));
    const signature = createHmac('sha256', key)
      .update(`w.${timestamp}.${JSON.stringify(body)}`)
      .digest('base64');
    return { 'webhook-id': 'w', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,x v1,${signature}` };
  };
  videos.verifies({ body, now }, [
    ['with its signature', signed(now), secret, true],
    ['of four minutes ago', signed(now - 240_000), secret, true],
    ['of five minutes ago', signed(now - 310_000), secret, false],
    ['with the signature of another secret', signed(now, 'other'), secret, false],
    ['without a signature', {}, secret, false],
    ['if no secret is configured', {}, undefined, true],
  ]);

  videos.hears([
    ...['starting', 'processing'].map((status) => [{ id, status }, false] as const),
    ...['succeeded', 'failed', 'canceled', 'aborted'].map((status) => [{ id, status }, true] as const),
    ['x', false],
  ]);
});
