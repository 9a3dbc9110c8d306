import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { vidu } from '../../../src/providers/vidu/index.ts';
import { callback, canned, fixture, providerContext, videoRequest } from '../support.ts';
import { videoTables } from '../vendor-tables.ts';

const { video } = vidu;
if (video === undefined) throw new Error('there are no videos');

const a = 'https://ex.com/a.png';
const b = 'data:image/png;base64,QUJD';
const prompt = 'a fox in the snow';
const q3 = 'viduq3-pro';
const id = '883410000000000000';
const root = 'https://upstream.example/api/v3/ent/v2';
const payload = 'mediary-t1-1';

const videos = videoTables(video, {
  model: q3,
  operation: { id },
  created: { json: fixture('vidu/created') },
  context: { callbackUrl: 'https://gw.example/cb' },
});
const own = { payload, callback_url: 'https://gw.example/cb' };

describe('a request', () => {
  it('is posted with the key', async () => {
    const { submitted, sent } = await videos.sentFor({});
    expect(submitted).toEqual({ operation: { id }, traceId: id });
    expect(sent).toMatchObject({ method: 'POST', headers: { authorization: 'Token test-key' } });
  });

  videos.sends([
    ['text', {}, q3, 'text2video', { prompt }],
    ['text with everything',
      { resolution: '1080P', ratio: '4:3', duration: 16, seed: 7, generateAudio: false, watermark: true, extra: { bgm: true } }, q3,
      'text2video', { prompt, resolution: '1080p', aspect_ratio: '4:3', duration: 16, seed: 7, audio: false, watermark: true, bgm: true }],
    ['silence of a silent model', { generateAudio: false }, 'viduq2', 'text2video', { prompt }],
    ['sound of a model that is not known', { generateAudio: true }, 'next', 'text2video', { prompt, audio: true }],
    ['a first frame, without words', { firstFrame: a, prompt: '', ratio: '16:9' }, q3, 'img2video', { images: [a] }],
    ['both frames', { firstFrame: a, lastFrame: b }, q3, 'start-end2video', { prompt, images: [a, b] }],
    ['references', { references: [a, b], ratio: '1:1' }, 'viduq2', 'reference2video', { prompt, images: [a, b], aspect_ratio: '1:1' }],
  ], (model) => ({ model, ...own }), '/ent/v2/'); // prettier-ignore

  videos.checks([
    ['no words', { prompt: '' }, q3, 'prompt'],
    ['480p', { resolution: '480p' }, q3, 'resolution'],
    ['4:3 of q1', { ratio: '4:3' }, 'viduq1', 'ratio'],
    ['any ratio beside a frame', { firstFrame: a, ratio: '21:9' }, q3, undefined],
    ['17 s of q3', { duration: 17 }, q3, 'duration'],
  ]); // prettier-ignore

  videos.renders([
    ['text', {}, q3, { resolutions: ['720p'], seconds: { min: 5, max: 5 } }],
    ['2.0', {}, 'vidu2.0', { resolutions: ['720p', '360p'], seconds: { min: 4, max: 4 } }],
    ['what is said', { resolution: '1080p', duration: 10 }, q3, {}],
    ['a model that is not known', {}, 'next', {}],
  ]);
});

describe('a job', () => {
  it('that is a success has a link with its end, and a cost', async () => {
    const { status, sent } = await videos.polled({ json: fixture('vidu/success') });
    expect(status).toEqual({
      state: 'succeeded',
      items: [
        { url: expect.stringMatching(/^https:\/\/files/), expiresAt: Date.UTC(2026, 10, 22, 15, 45) / 1000 },
      ],
      facts: {},
      cost: { amount: '8', unit: 'credits' },
    });
    expect(sent[0]).toMatchObject({ method: 'GET', url: `${root}/tasks/${id}/creations` });
  });

  videos.reads([
    ['created', { json: fixture('vidu/created') }, { state: 'pending', phase: 'submitted' }],
    ['queueing', { json: { state: 'queueing', progress: 0 } }, { state: 'pending', phase: 'submitted' }],
    ['processing', { json: { state: 'processing', progress: 40 } }, { state: 'pending', phase: 'running', progress: 40 }],
    ['a word that is not known', { json: { state: 'dreaming' } }, { state: 'pending', phase: 'running' }],
    ['failed', { json: fixture('vidu/failed') },
      { state: 'failed', code: 'CreationPolicyViolation', message: 'The upstream gave no reason.', failure: { class: 'moderation_output' } }],
    ['failed without a reason', { json: { state: 'failed', err_code: '' } },
      { state: 'failed', code: 'failed', message: 'The upstream gave no reason.', failure: { class: 'internal' } }],
  ]); // prettier-ignore

  videos.readsNoState([
    ['an unknown id', { status: 404, json: { code: 404, reason: 'TaskNotFound', message: 'm' } }, true, 'unknown_job'],
    ['no file', { json: { state: 'success', creations: [null] } }, false, 'unreadable_answer'],
    ['trouble', { status: 500, json: { reason: 'InternalServiceFailure', message: 'm' } }, false, 'InternalServiceFailure'],
  ]); // prettier-ignore
});

describe('a refused create', () => {
  videos.isRefused([
    ['a field', { status: 400, json: fixture('vidu/refused') }, 'rejected', 'invalid_input'],
    ['an unknown path', { status: 404, json: { reason: 'NotFound', message: 'm' } }, 'unavailable', 'quota'],
    ['a conflict', { status: 409, json: { reason: 'Conflict', message: 'm' } }, 'rejected', 'invalid_input'],
    ['a request that was cancelled', { status: 499, json: { reason: 'Canceled', message: 'm' } }, 'ambiguous', 'cancelled'],
    ['no id', { json: { state: 'created' } }, 'ambiguous', 'internal'],
  ]); // prettier-ignore
});

videos.cancels([
  ['a waiting job', { json: {} }, 'cancelled'],
  ['a running job', { status: 400, json: fixture('vidu/running') }, 'refused'],
  ['an unknown job', { status: 404, json: { reason: 'TaskNotFound', message: 'm' } }, 'gone'],
  ['in trouble', { status: 500, text: '<html>' }, 'ambiguous'],
  ['behind a proxy', { status: 400, text: '<html>' }, 'unavailable'],
]);

describe('many jobs', () => {
  it('are requested at once, and those that ended are omitted', async () => {
    const upstream = canned({ json: fixture('vidu/list') });
    const operations = ['1', '2', '3', '5'].map((one) => ({ id: one }));
    const found = await video.list?.(operations, providerContext({ request: upstream.request }));
    expect(Object.fromEntries(found ?? [])).toEqual({
      1: { state: 'pending', phase: 'submitted' },
      2: { state: 'pending', phase: 'running' },
    });
    const query = new URL(upstream.sent[0]?.url ?? '').searchParams;
    expect(query.getAll('task_ids')).toEqual(['1', '2', '3', '5']);
    expect(query.get('pager.pagesz')).toBe('100');
  });

  it('are searched for a lost one, and only those with its prompt are requested', async () => {
    const next = { json: { tasks: [], next_page_token: '' } };
    const first = { json: { ...(fixture('vidu/list') as object), next_page_token: 'p2' } };
    const mine = { json: { state: 'processing', payload } };
    const other = { json: { state: 'processing', payload: 'someone-else' } };
    const upstream = canned(first, next, other, mine, other);
    const lost = { request: videoRequest(), marker: payload, sentAfter: 1_000_000, sentBefore: 2_000_000 };
    const found = await video.find?.(lost, providerContext({ request: upstream.request }));
    expect(found).toEqual([{ operation: { id: '2' }, traceId: '2' }]);
    const urls = upstream.sent.map(({ url }) => new URL(url));
    expect(urls[0]?.searchParams.get('created_at.from')).toBe('1970-01-01T00:16:40.000Z');
    expect(urls[0]?.searchParams.get('created_at.to')).toBe('1970-01-01T00:33:20.000Z');
    expect(urls[1]?.searchParams.get('pager.page_token')).toBe('p2');
    expect(urls.slice(2).map(({ pathname }) => pathname.split('/').at(-2))).toEqual(['1', '2', '3']);
  });
});

describe('a callback', () => {
  const url = 'https://gw.example/base/callbacks/upstream/t/s?x=1';
  const now = Date.UTC(2026, 4, 6, 12, 9, 42);
  const date = new Date(now).toUTCString();
  const signed = (key: string, at = date) => {
    const text = `POST\n/base/callbacks/upstream/t/s\nx=1\nvidu\n${at}\nDate:${at}\nx-request-nonce:n\n`;
    return {
      date: at,
      'x-request-nonce': 'n',
      'x-hmac-signed-headers': 'Date;x-request-nonce',
      'x-hmac-signature': createHmac('sha256', key).update(text).digest('base64'),
    };
  };

  videos.hears([
    [fixture('vidu/success'), true],
    [fixture('vidu/failed'), true],
    [{ state: 'processing' }, false],
  ]);

  it.each<[string, Readonly<Record<string, string>>, string | undefined, boolean]>([
    ['with its signature', signed('test-key'), url, true],
    ['to an address that is not known here', {}, undefined, true],
    ['without a signature', {}, url, false],
    ['with that of another key', signed('other'), url, false],
    ['to another address', signed('test-key'), `${url}2`, false],
    ['that is six minutes old', signed('test-key', new Date(now - 360_000).toUTCString()), url, false],
    ['with another nonce', { ...signed('test-key'), 'x-request-nonce': 'm' }, url, false],
    ['that signs no headers', { ...signed('test-key'), 'x-hmac-signed-headers': '' }, url, false],
  ])('%s', async (_, headers, to, expected) => {
    const came = { ...callback({}, headers), ...(to !== undefined && { url: to }) };
    expect(await video.verifyCallback?.(came, { ...providerContext(), now })).toBe(expected);
  });
});
