import { describe, expect, it } from 'vitest';
import { minimax } from '../../../src/providers/minimax/index.ts';
import type { Operation } from '../../../src/providers/provider.ts';
import { callback, canned, fixture, imageRequest, providerContext, submitContext } from '../support.ts';
import { upstreamError, videoRequest } from '../support.ts';
import type { CannedAnswer } from '../support.ts';
import { videoTables } from '../vendor-tables.ts';

const { video, image } = minimax;
if (video === undefined || image === undefined) throw new Error('a capability is missing');

const id = '424010985738629';
const plain: Operation = { id: '106916112212032', version: '1' };
const videos = videoTables(video, { operation: { id } });
const { statusOf } = videos;
const root = 'https://upstream.example/api/v3';
const fine = { status_code: 0, status_msg: 'success' };

describe('a job of v2', () => {
  it('that succeeded has a link, its output facts, and its tokens', async () => {
    const { status, sent } = await videos.polled({ json: fixture('minimax/succeeded') });
    expect(status).toEqual({
      state: 'succeeded',
      items: [{ url: 'https://cdn.example.com/out.mp4' }],
      facts: {
        durationSeconds: 5,
        inputImages: 1,
        inputSeconds: 0,
        resolution: '2k',
        ratio: '16:9',
        usage: { totalTokens: 273_890, completionTokens: 260_390 },
      },
      endedAt: 1_785_125_946_500,
    });
    expect(sent[0]).toMatchObject({ method: 'GET', url: `${root}/v2/query/video_generation/${id}` });
  });

  it('that failed has a reason, with a code that is a text or a number', async () => {
    expect(await statusOf({ json: fixture('minimax/failed') })).toEqual({
      state: 'failed',
      code: '1026',
      message: 'video description contains sensitive content',
      failure: { class: 'moderation_input' },
      unbilled: true,
    });
    const task = { id, status: 'failed', error: { code: 1027, message: 'm' } };
    expect(await statusOf({ json: { task } })).toMatchObject({ failure: { class: 'moderation_output' } });
  });

  videos.readsPart([
    ['queued', { json: { task: { id, status: 'queued' } } }, { state: 'pending', phase: 'submitted' }],
    ['running', { json: { task: { id, status: 'running' } } }, { state: 'pending', phase: 'running' }],
    ['of a new word', { json: { task: { id, status: 'something_new' } } }, { state: 'pending', phase: 'running' }],
    ['failed', { json: { task: { id, status: 'failed' } } }, { state: 'failed', code: 'failed', failure: { class: 'internal' } }],
    ['cancelled', { json: { task: { id, status: 'cancelled' } } }, { state: 'failed', code: 'upstream_cancelled', failure: { class: 'cancelled' } }],
    ['expired', { json: { task: { id, status: 'expired' } } }, { state: 'failed', code: 'upstream_expired', failure: { class: 'expired' } }],
  ]); // prettier-ignore

  it('omits what was not reported', async () => {
    const task = { id, status: 'succeeded', content: { url: 'https://x.example/a.mp4' }, usage: 'none' };
    expect(await statusOf({ json: { task } })).toEqual({
      state: 'succeeded',
      items: [{ url: 'https://x.example/a.mp4' }],
      facts: {},
    });
  });
});

describe('a job of v1', () => {
  it('that succeeded has its file retrieved, with a link that is valid for an hour', async () => {
    const date = 'Sun, 22 Nov 2026 00:00:00 GMT';
    const file = { json: fixture('minimax/v1-file'), headers: { date } };
    const { status, sent } = await videos.polled([{ json: fixture('minimax/v1-success') }, file], plain);
    expect(status).toEqual({
      state: 'succeeded',
      items: [{ url: 'https://files.example.com/a.mp4', expiresAt: Date.UTC(2026, 10, 22, 1) / 1000 }],
      facts: { size: '1366x768' },
    });
    expect(sent.map(({ url }) => url)).toEqual([
      `${root}/v1/query/video_generation?task_id=106916112212032`,
      `${root}/v1/files/retrieve?file_id=205258526306433`,
    ]);
  });

  it('sends the account’s group where files are retrieved, and only there', async () => {
    const answers = ['minimax/v1-success', 'minimax/v1-file'].map((name) => ({ json: fixture(name) }));
    const credential = { id: 'a', apiKey: '17:sk-api-x' };
    const { sent } = await videos.polled(answers, plain, { credential });
    expect(sent.map(({ url, headers }) => [url.split('?')[1], headers])).toEqual([
      ['task_id=106916112212032', { authorization: 'Bearer sk-api-x' }],
      ['file_id=205258526306433&GroupId=17', { authorization: 'Bearer sk-api-x' }],
    ]);
  });

  it('that failed has its reason in the same place as a rejection', async () => {
    expect(await statusOf({ json: fixture('minimax/v1-fail') }, plain)).toEqual({
      state: 'failed',
      code: '1027',
      message: 'output content contains sensitive information',
      failure: { class: 'moderation_output' },
    });
  });

  it.each<[string, object]>([
    ['Preparing', { state: 'pending', phase: 'submitted' }],
    ['Queueing', { state: 'pending', phase: 'submitted' }],
    ['Processing', { state: 'pending', phase: 'running' }],
    ['Something', { state: 'pending', phase: 'running' }],
    ['Fail', { state: 'failed', code: 'failed', failure: { class: 'internal' } }],
  ])('in status %s', async (status, expected) => {
    const json = { task_id: plain.id, status, base_resp: fine };
    expect(await statusOf({ json }, plain)).toMatchObject(expected);
  });
});

const refused = (status: number, type: string, message: string): CannedAnswer => ({
  status,
  json: { type: 'error', error: { type, message, http_code: String(status) } },
});
const said = (status_code: number | string, status_msg = 'm'): CannedAnswer => ({
  json: { base_resp: { status_code, status_msg } },
});

videos.readsNoState([
  ['unknown', [refused(400, 'bad_request_error', 'invalid task_id (2013)')], true, '2013'],
  ['unknown to v1', [said(2013, 'invalid params, task_id')], plain, true, '2013'],
  ['another mistake', [refused(400, 'bad_request_error', 'invalid params (2013)')], false, '2013'],
  ['no file', [{ json: { task: { id, status: 'succeeded' } } }], false, 'unreadable_answer'],
  ['no file of v1', [{ json: { task_id: plain.id, status: 'Success', base_resp: fine } }], plain, false, 'unreadable_answer'],
  ['no link', [{ json: fixture('minimax/v1-success') }, { json: { file: {}, base_resp: fine } }], plain, false, 'unreadable_answer'],
  ['no file yet', [{ json: fixture('minimax/v1-success') }, said(1033)], plain, false, '1033'],
  ['too fast', [said(1002)], plain, false, '1002'],
  ['trouble', [refused(500, 'server_error', 'x (1000)')], false, '1000'],
]); // prettier-ignore

describe('a refused create', () => {
  const submit = (answer: CannedAnswer, model = 'MiniMax-H3') =>
    upstreamError(video.submit(videoRequest(), submitContext({ model, request: canned(answer).request })));

  it.each<[string, CannedAnswer, string, string, string]>([
    ['400', { status: 400, json: fixture('minimax/refused') }, 'rejected', '2013', 'invalid_input'],
    ['422', refused(422, 'unprocessable_entity_error', 'x (1026)'), 'rejected', '1026', 'moderation_input'],
    ['529', refused(529, 'overloaded_error', 'busy'), 'throttled', 'overloaded_error', 'capacity'],
    ['a code that is not known', refused(400, 'x_error', 'x (9999)'), 'rejected', 'http_400', 'invalid_input'],
    ['a page of 529', { status: 529, text: '<html>' }, 'ambiguous', 'http_529', 'internal'],
  ])('of v2: %s', async (_, answer, ...expected) => {
    const { outcome, code, failure } = await submit(answer);
    expect([outcome, code, failure.class]).toEqual(expected);
  }); // prettier-ignore

  it.each<[number | string, string, string, string?]>([
    [1002, 'throttled', 'capacity'],
    ['2045', 'throttled', 'capacity'],
    [2013, 'rejected', 'invalid_input'],
    [1013, 'ambiguous', 'internal'],
    [9999, 'ambiguous', 'internal', 'http_200'],
  ])('of v1: %s, with status 200', async (code, outcome, kind, shown = String(code)) => {
    const error = await submit(said(code), 'MiniMax-Hailuo-2.3');
    expect([error.outcome, error.code, error.failure.class]).toEqual([outcome, shown, kind]);
  });
});

it('many jobs of v2 are reported in one response', async () => {
  const upstream = canned({ json: fixture('minimax/list') });
  const operations = [{ id: '1' }, { id: '2' }, { id: '3' }, plain];
  const found = await video.list?.(operations, providerContext({ request: upstream.request }));
  expect([...(found ?? [])].map(([key, { state }]) => [key, state])).toEqual([
    ['1', 'pending'],
    ['3', 'failed'],
  ]);
  expect(upstream.sent[0]?.url).toBe(
    `${root}/v2/query/video_generation?page_num=1&page_size=20&filter.task_ids=1&filter.task_ids=2&filter.task_ids=3`,
  );
  expect((await video.list?.([plain], providerContext()))?.size).toBe(0);
});

const at = (status: string): CannedAnswer => ({ json: { task: { id, status } } });
const queued = { json: fixture('minimax/queued') };
videos.cancels([
  ['a queued job', [queued, { json: { task_id: id, action: 'cancelled' } }], 'cancelled'],
  ['a queued job, in the other words', [queued, { json: { task_id: id, action: 'cancel' } }], 'cancelled'],
  ['only the record of a job', [queued, { json: { task_id: id, action: 'deleted' } }], 'refused'],
  ['too late', [queued, refused(400, 'bad_request_error', 'running (2013)')], 'refused'],
  ['with an error of the vendor, which is not an answer', [queued, refused(500, 'server_error', 'x (1000)')], 'ambiguous'],
  ['a running job, for which it sends nothing', at('running'), 'refused'],
  ['a finished job, for which it sends nothing', { json: fixture('minimax/succeeded') }, 'refused'],
  ['a cancelled job', at('cancelled'), 'cancelled'],
  ['a job of v1, for which it sends nothing', [], 'refused', plain],
]); // prettier-ignore

describe('a callback', () => {
  it('that contains a challenge gets it back, and nothing more', () => {
    expect(video.parseCallback?.(callback({ challenge: 'abc', other: 1 }))).toEqual({
      ended: false,
      reply: { challenge: 'abc' },
    });
  });

  videos.hears([
    [fixture('minimax/succeeded'), true],
    [{ id, status: 'failed' }, true],
    [{ task: { id, status: 'expired' } }, true],
    [fixture('minimax/queued'), false],
    [{ task_id: '1', status: 'Success', file_id: '2', base_resp: fine }, true],
    [{ task_id: '1', status: 'failed' }, true],
    [{ task_id: '1', status: 'processing' }, false],
    [{ challenge: '' }, false],
    ['x', false],
  ]);
});

describe('images', () => {
  const generate = (answer: CannedAnswer) =>
    image.generate(imageRequest({ n: 3 }), providerContext({ request: canned(answer).request }));

  it('are as many as arrived, with links that are valid for a day', async () => {
    const headers = { date: 'Sun, 22 Nov 2026 00:00:00 GMT' };
    const { images, facts } = await generate({ json: fixture('minimax/images'), headers });
    expect(facts).toEqual({ images: 2 });
    expect(images[1]).toEqual({
      url: 'https://files.example.com/2.jpeg',
      expiresAt: Date.UTC(2026, 10, 23) / 1000,
    });
  });

  it('may come as base64', async () => {
    const { images } = await generate({ json: { data: { image_base64: ['QUJD'] }, base_resp: fine } });
    expect(images).toEqual([{ base64: 'QUJD' }]);
  });

  it.each<[string, CannedAnswer, string, string]>([
    ['all of them failed', { json: { data: {}, metadata: { failed_count: '3' }, base_resp: fine } }, 'rejected', 'no_image'],
    ['nothing came', { json: { base_resp: fine } }, 'ambiguous', 'unreadable_answer'],
    ['no balance', { json: fixture('minimax/v1-refused') }, 'unavailable', '1008'],
    ['what was drawn is refused', said(1027), 'rejected', '1027'],
  ])('are missing: %s', async (_, answer, ...expected) => {
    const error = await upstreamError(generate(answer));
    expect([error.outcome, error.code]).toEqual(expected);
  }); // prettier-ignore
});
