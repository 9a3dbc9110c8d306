import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { VideoRequest } from '../../../src/models/request.ts';
import { vidu, viduFacts } from '../../../src/providers/vidu/index.ts';
import {
  callback,
  canned,
  fixture,
  providerContext,
  submitContext,
  upstreamError,
  videoIssue,
  videoOutput,
  videoRequest,
} from '../support.ts';
import type { CannedAnswer } from '../support.ts';
import { useSimulator } from '../use-simulator.ts';
import { startReceiver } from '../../workshop/simulator/support.ts';

const { video } = vidu;
if (video === undefined) throw new Error('there are no videos');

const viduOwnFields = viduFacts.others.reserved ?? [];
const a = 'https://ex.com/a.png';
const b = 'data:image/png;base64,QUJD';
const prompt = 'a fox in the snow';
const q3 = 'viduq3-pro';
const id = '883410000000000000';
const root = 'https://upstream.example/api/v3/ent/v2';
const payload = 'mediary-t1-1';

async function sentFor(request: Partial<VideoRequest>, model = q3) {
  const upstream = canned({ json: fixture('vidu/created') });
  const context = submitContext({ model, request: upstream.request, callbackUrl: 'https://gw.example/cb' });
  return { submitted: await video?.submit(videoRequest(request), context), sent: upstream.sent[0] };
}

const own = { payload, callback_url: 'https://gw.example/cb' };

describe('a request', () => {
  it.each<[string, Partial<VideoRequest>, string, string, object]>([
    ['text', {}, q3, 'text2video', { prompt }],
    [
      'text with everything',
      {
        resolution: '1080P',
        ratio: '4:3',
        duration: 16,
        seed: 7,
        generateAudio: false,
        watermark: true,
        extra: { bgm: true },
      },
      q3,
      'text2video',
      {
        prompt,
        resolution: '1080p',
        aspect_ratio: '4:3',
        duration: 16,
        seed: 7,
        audio: false,
        watermark: true,
        bgm: true,
      },
    ],
    ['silence of a silent model', { generateAudio: false }, 'viduq2', 'text2video', { prompt }],
    [
      'sound of a model that is not known',
      { generateAudio: true },
      'next',
      'text2video',
      { prompt, audio: true },
    ],
    [
      'a first frame, without words',
      { firstFrame: a, prompt: '', ratio: '16:9' },
      q3,
      'img2video',
      { images: [a] },
    ],
    ['both frames', { firstFrame: a, lastFrame: b }, q3, 'start-end2video', { prompt, images: [a, b] }],
    [
      'references',
      { references: [a, b], ratio: '1:1' },
      'viduq2',
      'reference2video',
      { prompt, images: [a, b], aspect_ratio: '1:1' },
    ],
  ])('of %s', async (_, request, model, ...[path, expected]) => {
    expect(videoIssue(video, videoRequest(request), model)).toBeUndefined();
    const { submitted, sent } = await sentFor(request, model);
    expect(submitted).toEqual({ operation: { id }, traceId: id });
    expect(sent).toMatchObject({
      method: 'POST',
      url: `${root}/${path}`,
      headers: { authorization: 'Token test-key' },
    });
    expect(sent?.json).toEqual({ model, ...expected, ...own });
  });

  it('never lets metadata reach a field that the gateway decides', async () => {
    const names = fc.oneof(fc.constantFrom(...viduOwnFields), fc.string({ minLength: 1, maxLength: 12 }));
    const metadata = fc.dictionary(names, fc.jsonValue(), { noNullPrototype: true });
    const plain = (await sentFor({ firstFrame: a })).sent?.json;
    await fc.assert(
      fc.asyncProperty(metadata, async (said) => {
        const extra = JSON.parse(JSON.stringify(said));
        const passed = Object.entries(extra).filter(([name]) => !viduOwnFields.includes(name));
        const { sent } = await sentFor({ firstFrame: a, extra });
        expect(sent?.json).toEqual({ ...Object.fromEntries(passed), ...plain });
      }),
      { numRuns: 100 },
    );
  });

  it.each<[string, Partial<VideoRequest>, string, string | undefined]>([
    ['a draft', { draft: true }, q3, 'metadata.draft'],
    ['no words', { prompt: '' }, q3, 'prompt'],
    ['references without words', { prompt: '', references: [a] }, q3, 'prompt'],
    ['sound of q2', { generateAudio: true }, 'viduq2-pro', 'metadata.generate_audio'],
    ['sound of q3', { generateAudio: true }, q3, undefined],
    ['480p', { resolution: '480p' }, q3, 'resolution'],
    ['720p of q1', { resolution: '720p' }, 'viduq1', 'resolution'],
    ['4:3 of q1', { ratio: '4:3' }, 'viduq1', 'ratio'],
    ['any ratio beside a frame', { firstFrame: a, ratio: '21:9' }, q3, undefined],
    ['a ratio of its choice', { ratio: 'adaptive' }, q3, 'ratio'],
    ['16 s of q3', { duration: 16 }, q3, undefined],
    ['17 s of q3', { duration: 17 }, q3, 'duration'],
    ['11 s of q2', { duration: 11 }, 'viduq2', 'duration'],
    ['8 s of 2.0', { duration: 8 }, 'vidu2.0', undefined],
    ['5 s of 2.0', { duration: 5 }, 'vidu2.0', 'duration'],
    ['a length of its choice', { duration: 'auto' }, q3, 'duration'],
    ['a length of the choice of a model that is not known', { duration: 'auto' }, 'next', 'duration'],
    [
      'whatever a model that is not known may have',
      { resolution: '8k', ratio: '5:4', duration: 99 },
      'next',
      undefined,
    ],
    ['eight references', { references: Array.from({ length: 8 }, () => a) }, q3, 'images'],
    ['a frame and a reference', { firstFrame: a, references: [b] }, q3, 'images'],
    ['a video', { videos: ['https://ex.com/a.mp4'] }, q3, 'videos'],
  ])('check: %s', (_, request, model, param) => {
    expect(videoIssue(video, videoRequest(request), model)?.param).toBe(param);
  });

  it.each<[string, Partial<VideoRequest>, string, object]>([
    ['text', {}, q3, { resolutions: ['720p'], seconds: { min: 5, max: 5 } }],
    ['2.0', {}, 'vidu2.0', { resolutions: ['720p', '360p'], seconds: { min: 4, max: 4 } }],
    ['what is said', { resolution: '1080p', duration: 10 }, q3, {}],
    ['a model that is not known', {}, 'next', {}],
  ])('may be, of %s', (_, request, model, expected) => {
    expect(videoOutput(video, videoRequest(request), model)).toEqual(expected);
  });
});

const statusOf = (answer: CannedAnswer) =>
  video.status({ id }, providerContext({ request: canned(answer).request }));

describe('a job', () => {
  it('that is a success has a link with its end, and a cost', async () => {
    const upstream = canned({ json: fixture('vidu/success') });
    expect(await video.status({ id }, providerContext({ request: upstream.request }))).toEqual({
      state: 'succeeded',
      items: [
        { url: expect.stringMatching(/^https:\/\/files/), expiresAt: Date.UTC(2026, 10, 22, 15, 45) / 1000 },
      ],
      facts: {},
      cost: { amount: '8', unit: 'credits' },
    });
    expect(upstream.sent[0]).toMatchObject({ method: 'GET', url: `${root}/tasks/${id}/creations` });
  });

  it.each<[string, CannedAnswer, object]>([
    ['created', { json: fixture('vidu/created') }, { state: 'pending', phase: 'submitted' }],
    ['queueing', { json: { state: 'queueing', progress: 0 } }, { state: 'pending', phase: 'submitted' }],
    [
      'processing',
      { json: { state: 'processing', progress: 40 } },
      { state: 'pending', phase: 'running', progress: 40 },
    ],
    ['a word that is not known', { json: { state: 'dreaming' } }, { state: 'pending', phase: 'running' }],
    [
      'failed',
      { json: fixture('vidu/failed') },
      {
        state: 'failed',
        code: 'CreationPolicyViolation',
        message: 'The upstream gave no reason.',
        failure: { class: 'moderation_output' },
      },
    ],
    [
      'failed without a reason',
      { json: { state: 'failed', err_code: '' } },
      {
        state: 'failed',
        code: 'failed',
        message: 'The upstream gave no reason.',
        failure: { class: 'internal' },
      },
    ],
  ])('in %s', async (_, answer, expected) => {
    expect(await statusOf(answer)).toEqual(expected);
  });

  it.each<[string, CannedAnswer, boolean, string]>([
    [
      'an unknown id',
      { status: 404, json: { code: 404, reason: 'TaskNotFound', message: 'm' } },
      true,
      'unknown_job',
    ],
    ['a 404 of a proxy', { status: 404, text: '<html>' }, false, 'http_404'],
    ['a page', { text: '<html>' }, false, 'unreadable_answer'],
    ['no file', { json: { state: 'success', creations: [null] } }, false, 'unreadable_answer'],
    [
      'trouble',
      { status: 500, json: { reason: 'InternalServiceFailure', message: 'm' } },
      false,
      'InternalServiceFailure',
    ],
  ])('reports no state: %s', async (_, answer, ...[gone, code]) => {
    const error = await upstreamError(statusOf(answer));
    expect([error.gone, error.code]).toEqual([gone, code]);
  });
});

describe('a refused create', () => {
  it.each<[string, CannedAnswer, string, string]>([
    ['a field', { status: 400, json: fixture('vidu/refused') }, 'rejected', 'invalid_input'],
    ['an unknown path', { status: 404, json: { reason: 'NotFound', message: 'm' } }, 'unavailable', 'quota'],
    ['a conflict', { status: 409, json: { reason: 'Conflict', message: 'm' } }, 'rejected', 'invalid_input'],
    [
      'a request that was cancelled',
      { status: 499, json: { reason: 'Canceled', message: 'm' } },
      'ambiguous',
      'cancelled',
    ],
    ['a page of 400', { status: 400, text: '<html>' }, 'unavailable', 'quota'],
    ['a page of 503', { status: 503, text: '<html>' }, 'ambiguous', 'internal'],
    ['no id', { json: { state: 'created' } }, 'ambiguous', 'internal'],
  ])('for %s', async (_, answer, ...expected) => {
    const context = submitContext({ request: canned(answer).request });
    const error = await upstreamError(video.submit(videoRequest(), context));
    expect([error.outcome, error.failure.class]).toEqual(expected);
  });
});

describe('a cancellation', () => {
  const cancel = (answer: CannedAnswer) =>
    video.cancel?.({ id }, providerContext({ request: canned(answer).request })) ??
    Promise.reject(new Error('none'));

  it('is done, or refused once the job runs', async () => {
    expect(await cancel({ json: {} })).toBe('cancelled');
    expect(await cancel({ status: 400, json: fixture('vidu/running') })).toBe('refused');
  });

  it.each<[string, CannedAnswer]>([
    ['of an unknown job', { status: 404, json: { reason: 'TaskNotFound', message: 'm' } }],
    ['that meets trouble', { status: 500, text: '<html>' }],
    ['that meets a proxy', { status: 400, text: '<html>' }],
  ])('%s says nothing', async (_, answer) => {
    expect((await upstreamError(cancel(answer))).outcome).not.toBe('not_sent');
  });
});

describe('many jobs', () => {
  it('are asked for at once, and those that ended are left out', async () => {
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

  it('are looked through for a lost one: only those with its prompt are asked for their payload', async () => {
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

  it('says whether the job ended', () => {
    expect(video.parseCallback?.(callback(fixture('vidu/success')))).toEqual({ ended: true });
    expect(video.parseCallback?.(callback(fixture('vidu/failed')))).toEqual({ ended: true });
    expect(video.parseCallback?.(callback({ state: 'processing' }))).toEqual({ ended: false });
  });

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

describe('against the dialect', () => {
  const simulator = useSimulator({ renderSeconds: 8 });

  it.each<[string, Partial<VideoRequest>]>([
    [
      'text',
      { resolution: '1080p', ratio: '9:16', duration: 16, seed: 7, generateAudio: true, watermark: false },
    ],
    ['a frame', { firstFrame: a, ratio: '16:9', extra: { movement_amplitude: 'small' } }],
    ['frames', { firstFrame: a, lastFrame: b }],
    ['references', { references: [a, b], ratio: '1:1' }],
  ])('%s is accepted and rendered', async (_, asked) => {
    const context = submitContext({
      request: simulator.request,
      baseUrl: `${simulator.url}/vidu`,
      model: q3,
    });
    const { operation } = await video.submit(videoRequest(asked), context);
    simulator.control.advance(9);
    expect(await video.status(operation, context)).toMatchObject({
      state: 'succeeded',
      cost: { unit: 'credits' },
    });
  });

  it('its callbacks carry the signature that the adapter expects', async () => {
    const receiver = await startReceiver();
    const context = submitContext({
      request: simulator.request,
      baseUrl: `${simulator.url}/vidu`,
      model: q3,
      callbackUrl: receiver.url,
    });
    await video.submit(videoRequest(), context);
    simulator.control.advance(9);
    await receiver.waitFor(2);
    for (const { headers, body } of receiver.received) {
      const came = {
        ...callback(body),
        url: receiver.url,
        header: (name: string) => String(headers[name] ?? ''),
      };
      expect(await video.verifyCallback?.(came, { ...context, now: Date.now() })).toBe(true);
      const other = { ...context, credential: { id: 'b', apiKey: 'other' }, now: Date.now() };
      expect(await video.verifyCallback?.(came, other)).toBe(false);
    }
    expect(receiver.received.some(({ body }) => video.parseCallback?.(callback(body)).ended === true)).toBe(
      true,
    );
    await receiver.close();
  });
});
