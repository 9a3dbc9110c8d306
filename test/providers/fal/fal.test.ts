import { describe, expect, it } from 'vitest';
import type { VideoRequest } from '../../../src/models/request.ts';
import { fal } from '../../../src/providers/fal/index.ts';
import { fieldMappingSchema } from '../../../src/models/field-mapping.ts';
import { canned, fixture, providerContext, submitContext, videoIssue, videoRequest } from '../support.ts';
import type { CannedAnswer } from '../support.ts';
import { imageTables, videoTables } from '../vendor-tables.ts';

const { video, imageTask } = fal;
if (video?.find === undefined || imageTask === undefined) throw new Error('a capability is missing');
const { find } = video;

const name = (kind: string) => `bytedance/seedance-2.0/${kind}-to-video`;
const model = name('text');
const mapping = fieldMappingSchema.parse({
  endpoints: { text_to_video: model, first_last_frame: name('image') },
  fields: {
    prompt: 'prompt',
    first_frame: 'image_url',
    last_frame: 'end_image_url',
    duration: { name: 'duration', form: 'text', auto: 'auto' },
    resolution: 'resolution',
  },
  constants: { bitrate_mode: 'standard' },
  pass: ['camera_fixed'],
  marker: 'end_user_id',
  result: 'video.url',
  cost: { unit: 'USD', price: '0.014' },
});
const id = '764cabcf-b745-4b3e-ae38-1200304cf45b';
const base = 'https://upstream.example/api/v3';
const app = 'bytedance/seedance-2.0';
const operation = { id, endpoint: model, app };
const job = `${base}/${app}/requests/${id}`;
const a = 'https://ex.com/a.png';

const videos = videoTables(video, { model, mapping, operation, created: { json: fixture('fal/created') } });
const { sentFor, statusOf } = videos;
const images = imageTables(imageTask, { operation });

describe('a submission', () => {
  const input = { prompt: 'a fox in the snow', bitrate_mode: 'standard', end_user_id: 'mediary-t1-1' };

  it('is the input itself, at the whole name', async () => {
    const { submitted, sent } = await sentFor({});
    expect(submitted).toEqual({ operation, traceId: id });
    expect(sent).toMatchObject({
      method: 'POST',
      url: `${base}/${model}`,
      headers: { authorization: 'Key test-key' },
    });
    expect(sent?.json).toEqual(input);
  });

  it('is sent where its inputs are accepted, and calls back our own address', async () => {
    const asked: Partial<VideoRequest> = {
      firstFrame: a,
      lastFrame: `${a}?2`,
      duration: 'auto',
      resolution: '1080p',
      extra: { camera_fixed: true, fal_webhook: 'https://evil.example', sync_mode: true },
    };
    expect(videoIssue(video, videoRequest(asked), model, mapping)).toBeUndefined();
    const callbackUrl = 'https://gw.example/callbacks/upstream/t1/secret';
    const { submitted, sent } = await sentFor(asked, model, { callbackUrl });
    expect(submitted).toMatchObject({ operation: { id, endpoint: name('image'), app } });
    const url = new URL(sent?.url ?? '');
    expect(url.origin + url.pathname).toBe(`${base}/${name('image')}`);
    expect([...url.searchParams]).toEqual([['fal_webhook', callbackUrl]]);
    expect(sent?.json).toEqual({
      ...input,
      image_url: a,
      end_image_url: `${a}?2`,
      duration: 'auto',
      resolution: '1080p',
      camera_fixed: true,
    });
  });

  it.each([
    [`${base}/partner/other/requests/${id}/status`, 'partner/other'],
    [`${base}/workflows/one/two/requests/${id}/status`, 'workflows/one/two'],
    [`https://evil.example/partner/other/requests/${id}/status`, app],
    [`${base}.evil.example/partner/other/requests/${id}/status`, app],
    [`${base}/../../admin/requests/${id}/status`, app],
    [`${base}/a/b?x=/requests/${id}/status`, app],
    [`${base}/partner/other/requests/another/status`, app],
    ['no address', app],
    [`https://queue.fal.run/partner/other/requests/${id}/status`, app],
  ])('with the response %s is polled below %s', async (address, expected) => {
    const { request } = canned({ json: { request_id: id, status_url: address } });
    const { operation: found } = await video.submit(
      videoRequest(),
      submitContext({ model, mapping, request }),
    );
    expect(found['app']).toBe(expected);
  });

  it('may be named at either host of the vendor, and is polled at the channel’s own', async () => {
    const { request } = canned({
      json: { request_id: id, status_url: `https://queue.fal.run/partner/other/requests/${id}/status` },
    });
    const { operation: found } = await video.submit(
      videoRequest(),
      submitContext({ model, mapping, request, baseUrl: 'https://queue.falrun.com' }),
    );
    expect(found['app']).toBe('partner/other');
  });

  videos.isRefused(
    [{ request_id: '' }, { request_id: '../../x' }, { request_id: 7 }].map((json) => [
      `an id that cannot be used, ${JSON.stringify(json)}`,
      { json },
      'ambiguous',
      'unreadable_answer',
    ]),
  );

  const plain = fieldMappingSchema.parse({ fields: { prompt: 'prompt' }, result: 'video.url' });
  videoTables(video, { mapping: plain }).checks([
    ['a field without a name', { seed: 1 }, model, 'metadata.seed'],
    ['references', { references: [a] }, model, 'images'],
    ['a name that is none', {}, 'seedance', 'model'],
    ['a path', {}, '../../admin/x', 'model'],
    ['two dots', {}, 'a/..', 'model'],
    ['a query', {}, 'a/b?c', 'model'],
    ['a host', {}, '//evil.example/x', 'model'],
  ]);

  it.each(['fal-ai/flux-2-pro', 'wan/v2.6/text-to-video', 'workflows/a_b/c'])('may go to %s', (upstream) => {
    expect(videoIssue(video, videoRequest(), upstream, plain)).toBeUndefined();
  });
});

const completed: CannedAnswer = { json: fixture('fal/completed') };
const unknown: CannedAnswer = { status: 404, json: { detail: 'Request not found' } };
const kept = (item: object): CannedAnswer => ({ json: { items: [{ request_id: id, ...item }] } });

describe('a request', () => {
  it('that succeeded has its file, and the cost from the header', async () => {
    const headers = { 'x-fal-billable-units': '108.5' };
    const { status, sent } = await videos.polled([completed, { json: fixture('fal/video'), headers }]);
    expect(status).toEqual({
      state: 'succeeded',
      items: [{ url: 'https://files.example.com/video.mp4' }],
      facts: {},
      cost: { amount: '1.519', unit: 'USD' },
    });
    expect(sent.map(({ url }) => url)).toEqual([`${job}/status`, job]);
  });

  it('can also be read without a mapping, because its model may have left the channel', async () => {
    const answers = [completed, { json: fixture('fal/video') }];
    expect(await videoTables(video, { operation }).statusOf(answers)).toMatchObject({
      state: 'succeeded',
      facts: {},
    });
  });

  const pictures = (flags: unknown) => [
    completed,
    { json: { images: [{ url: a }, { url: `${a}?2` }], has_nsfw_concepts: flags } },
  ];
  it.each<[unknown, string[]]>([
    [[false, false], [a, `${a}?2`]],
    [[false, true], [a]],
    [[true, false], [`${a}?2`]],
    [[], [a, `${a}?2`]],
    ['x', [a, `${a}?2`]],
    [[false, false, true], [a, `${a}?2`]],
  ])('contains the images that are not blank: %j', async (flags, urls) => {
    expect(await images.statusOf(pictures(flags))).toEqual({
      state: 'succeeded',
      items: urls.map((url) => ({ url })),
      facts: { images: urls.length },
    });
  }); // prettier-ignore

  it('with only blank images is treated as moderated', async () => {
    expect(await images.statusOf(pictures([true, true]))).toMatchObject({
      state: 'failed',
      failure: { class: 'moderation_output' },
      withheld: [a, `${a}?2`],
    });
  });

  const running = { state: 'pending', phase: 'running' };
  videos.readsPart([
    ['queued', [{ status: 202, json: fixture('fal/in-queue') }], { state: 'pending', phase: 'submitted', queuePosition: 3 }],
    ['in progress', [{ status: 202, json: fixture('fal/in-progress') }], running],
    ['of a new word', [{ status: 202, json: { request_id: id, status: 'RETRYING' } }], running],
    ['completed too early', [completed, { status: 400, json: { detail: 'Request is still in progress' } }], running],
    ['refused', [completed, { status: 422, json: fixture('fal/refused') }], { state: 'failed', code: 'content_policy_violation', failure: { class: 'moderation_input', input: 'image' } }],
    ['wrong', [completed, { status: 422, json: { detail: [{ loc: ['body', 'duration'], msg: 'm', type: 'value_error' }] } }], { state: 'failed', failure: { class: 'invalid_input', field: 'duration' } }],
    ['wrong in words', [completed, { status: 422, json: { detail: 'no' } }], { state: 'failed', code: 'http_422', failure: { class: 'invalid_input' } }],
    ['without a frame in time', [completed, { status: 504, json: fixture('fal/timed-out') }], { state: 'failed', code: 'request_timeout', failure: { class: 'internal' } }],
    ['reported by a header', [completed, { status: 503, json: { detail: 'm' }, headers: { 'x-fal-error-type': 'downstream_service_unavailable' } }], { state: 'failed', failure: { class: 'capacity' } }],
    ['a crash of the model', [completed, { status: 500, json: { detail: 'Internal Server Error' } }], { state: 'failed', code: 'http_500', failure: { class: 'internal' } }],
    ['broken, and no result', [{ json: fixture('fal/broken') }, { status: 503, text: '<html>' }], { state: 'failed', code: 'runner_disconnected', failure: { class: 'internal' } }],
    ['cancelled', [completed, { status: 499, json: { detail: 'm', error_type: 'client_cancelled' } }], { state: 'failed', code: 'upstream_cancelled', failure: { class: 'cancelled' } }],
    ['refused after it ran', [completed, { status: 422, json: { detail: 'm' }, headers: { 'x-fal-billable-units': '10' } }], { state: 'failed', cost: { amount: '0.14', unit: 'USD' } }],
  ]); // prettier-ignore

  videos.readsNoState([
    ['it is of another request', [{ json: { request_id: 'x', status: 'COMPLETED' } }], false, 'unreadable_answer'],
    ['trouble', [{ status: 500, json: { detail: 'm' } }], false, 'http_500'],
    ['a result without a file', [completed, { json: { seed: 1 } }], false, 'unreadable_answer'],
    ['the pace of results', [completed, { status: 429, json: { detail: 'm', error_type: 'x' } }], false, 'http_429'],
    ['a key that is wrong by now', [completed, { status: 401, json: { detail: 'm' } }], false, 'http_401'],
    ['a proxy before the result', [completed, { status: 502, text: '<html>' }], false, 'http_502'],
    ['a platform in trouble', [completed, { status: 503, json: { detail: 'm' } }], false, 'http_503'],
    ['it is unknown, and the history knows nothing', [unknown, { json: { items: [] } }], true, 'unknown_job'],
    ['it is unknown, and the history is of others', [unknown, { json: { items: [{ request_id: 'x', status_code: 200 }] } }], true, 'unknown_job'],
    ['it is unknown, and the history is closed', [unknown, { status: 403, json: { detail: 'm' } }], false, 'http_403'],
    ['it is unknown, and the history is a page', [unknown, { text: '<html>' }], false, 'unreadable_answer'],
    ['it ended, nobody knows how', [unknown, kept({ ended_at: 'x' })], false, 'unreadable_answer'],
  ]); // prettier-ignore

  it.each<[string, object, object]>([
    ['a success', { status_code: 200, json_output: fixture('fal/video') }, { state: 'succeeded', items: [{ url: 'https://files.example.com/video.mp4' }] }],
    ['a success without payloads', { status_code: 200 }, { state: 'failed', code: 'result_expired', failure: { class: 'expired' } }],
    ['a refusal', { status_code: 422, json_output: fixture('fal/refused') }, { state: 'failed', failure: { class: 'moderation_input' } }],
    ['a failure without payloads', { status_code: 504 }, { state: 'failed', code: 'http_504', failure: { class: 'internal' } }],
    ['a cancellation', { status_code: 499 }, { state: 'failed', failure: { class: 'cancelled' } }],
    ['a wait', { started_at: null }, { state: 'pending', phase: 'submitted' }],
    ['a run', { started_at: '2026-11-21T10:00:05.000Z' }, running],
  ])('that the queue has forgotten is read from the history: %s', async (_, item, expected) => {
    expect(await statusOf([unknown, kept(item)])).toMatchObject(expected);
    expect(await statusOf([completed, unknown, kept(item)])).toMatchObject(expected);
  }); // prettier-ignore
});

const cancelled = { status: 499, json: { detail: 'm', error_type: 'client_cancelled' } };
const late = { status: 400, json: { status: 'ALREADY_COMPLETED' } };
videos.cancels([
  ['what is removed', [{ json: { status: 'OK' } }, completed, cancelled], 'cancelled'],
  ['what is removed without a trace', [{ json: { status: 'OK' } }, unknown, { json: { items: [] } }], 'cancelled'],
  ['what is asked to stop, and runs', [{ status: 202, json: { status: 'CANCELLATION_REQUESTED' } }, { status: 202, json: fixture('fal/in-progress') }], 'refused'],
  ['what is asked to stop, and stopped', [{ status: 202, json: { status: 'CANCELLATION_REQUESTED' } }, completed, cancelled], 'cancelled'],
  ['what has finished', [late, completed, { json: fixture('fal/video') }], 'refused'],
  ['what was cancelled before', [late, completed, cancelled], 'cancelled'],
  ['an unknown request', { status: 404, json: { status: 'NOT_FOUND' } }, 'gone'],
  ['behind a page', { status: 404, text: '<html>' }, 'unavailable'],
  ['behind a proxy in trouble', { status: 502, text: '<html>' }, 'ambiguous'],
  ['what is forgotten', [late, unknown, { json: { items: [] } }], 'gone'],
], ([sent]) => expect(sent).toMatchObject({ method: 'PUT', url: `${job}/cancel` })); // prettier-ignore

describe('a lost request', () => {
  const lost = { request: videoRequest(), marker: 'mediary-t1-1', sentAfter: 0, sentBefore: 60_000 };

  it('is found by its marker, on any page', async () => {
    const last = {
      json: {
        items: [
          { request_id: 'three', json_input: { end_user_id: 'mediary-t1-1' } },
          { request_id: '../x' },
          7,
        ],
        next_cursor: null,
      },
    };
    const upstream = canned({ json: fixture('fal/history') }, last);
    const found = await find(lost, providerContext({ request: upstream.request, mapping, model }));
    expect(found).toEqual([
      { operation: { id: 'two', endpoint: model, app }, traceId: 'two' },
      { operation: { id: 'three', endpoint: model, app }, traceId: 'three' },
    ]);
    const [first, second] = upstream.sent.map(({ url }) => new URL(url));
    expect(first?.href).toMatch(`${base}/v1/models/requests/by-endpoint?`);
    expect(Object.fromEntries(first?.searchParams ?? [])).toEqual({
      endpoint_id: model,
      start: '1970-01-01T00:00:00.000Z',
      end: '1970-01-01T00:01:00.000Z',
      limit: '100',
      expand: 'payloads',
    });
    expect(second?.searchParams.get('cursor')).toBe('abc');
  });

  it('is searched for at the vendor’s platform', async () => {
    const upstream = canned({ json: { items: [] } });
    const baseUrl = 'https://queue.fal.run';
    await find(lost, providerContext({ request: upstream.request, mapping, model, baseUrl }));
    expect(upstream.sent[0]?.url).toMatch('https://api.fal.ai/v1/models/requests/by-endpoint?');
  });

  it('is left to an operator if the mapping has no marker', async () => {
    const unmarked = { ...mapping, marker: undefined };
    expect(await find(lost, providerContext({ mapping: unmarked, model }))).toEqual([]);
  });
});

describe('a refusal', () => {
  it('names the field of the input', async () => {
    const json = { detail: [{ loc: ['body', 'duration'], msg: 'm', type: 'value_error' }] };
    expect(await videos.refusalOf({ status: 422, json })).toMatchObject({
      outcome: 'rejected',
      code: 'value_error',
      failure: { class: 'invalid_input', field: 'duration' },
    });
  });
});

const pictureMapping = fieldMappingSchema.parse({
  endpoints: { generate: 'fal-ai/flux-2-pro', edit: 'fal-ai/flux-2-pro/edit' },
  fields: { prompt: 'prompt', images: 'image_urls', size: { name: 'image_size', form: 'object' } },
  result: 'images[].url',
});
const mapped = imageTables(imageTask, {
  mapping: pictureMapping,
  operation,
  created: { json: fixture('fal/created') },
});
mapped.sends([
  ['the mapped fields of an image', { size: '1024x512', images: [{ form: 'url', url: a }] }, 'fal-ai/flux-2-pro', '/fal-ai/flux-2-pro/edit',
    { prompt: 'a red cube', image_urls: [a], image_size: { width: 1024, height: 512 } }],
], () => ({})); // prettier-ignore
mapped.readsPart([
  ['of an image', [completed, { json: fixture('fal/images') }], { state: 'succeeded', facts: { images: 1 } }],
]);
