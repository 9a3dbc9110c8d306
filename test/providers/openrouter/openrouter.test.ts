import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { VideoRequest } from '../../../src/models/request.ts';
import { openrouter, openrouterFacts } from '../../../src/providers/openrouter/index.ts';
import {
  callback,
  canned,
  fixture,
  providerContext,
  submitContext,
  upstreamError,
  videoIssue,
  videoRequest,
} from '../support.ts';
import type { CannedAnswer } from '../support.ts';
import { startReceiver } from '../../workshop/simulator/support.ts';
import { useSimulator } from '../use-simulator.ts';

const { video } = openrouter;
if (video === undefined) throw new Error('there are no videos');

const openrouterOwnFields = openrouterFacts.others.reserved ?? [];
const a = 'https://ex.com/a.png';
const b = 'data:image/png;base64,QUJD';
const clip = 'https://ex.com/a.mp4';
const sound = 'https://ex.com/a.mp3';
const prompt = 'a fox in the snow';
const model = 'bytedance/seedance-2.0';
const id = 'gen-vid-1763719200-abc';
const root = 'https://upstream.example/api/v3';
const image = (url: string) => ({ type: 'image_url', image_url: { url } });

async function sentFor(request: Partial<VideoRequest>, callbackUrl?: string) {
  const upstream = canned({ status: 202, json: fixture('openrouter/created') });
  const context = submitContext({ model, request: upstream.request, ...(callbackUrl && { callbackUrl }) });
  return { submitted: await video?.submit(videoRequest(request), context), sent: upstream.sent[0] };
}

const everything: Partial<VideoRequest> = {
  resolution: '720P',
  ratio: '9:16',
  duration: 8,
  generateAudio: false,
  seed: 7,
  safetyIdentifier: 'u1',
};

describe('a request', () => {
  it.each<[string, Partial<VideoRequest>, object]>([
    ['text', {}, { prompt }],
    [
      'text with everything',
      { ...everything, extra: { theirs: 1, negative_prompt: 'rain', provider: { options: {} } } },
      {
        prompt,
        resolution: '720p',
        aspect_ratio: '9:16',
        duration: 8,
        generate_audio: false,
        seed: 7,
        user: 'u1',
        theirs: 1,
      },
    ],
    ['a class of resolutions', { resolution: '4k' }, { prompt, resolution: '4K' }],
    [
      'both frames, without words and in their ratio',
      { firstFrame: a, lastFrame: b, prompt: '', ratio: 'adaptive' },
      {
        frame_images: [
          { ...image(a), frame_type: 'first_frame' },
          { ...image(b), frame_type: 'last_frame' },
        ],
      },
    ],
    [
      'references of all kinds',
      { references: [a, b], videos: [clip], audios: [sound] },
      {
        prompt,
        input_references: [
          image(a),
          image(b),
          { type: 'video_url', video_url: { url: clip } },
          { type: 'audio_url', audio_url: { url: sound } },
        ],
      },
    ],
  ])('of %s', async (_, request, expected) => {
    expect(videoIssue(video, videoRequest(request), model)).toBeUndefined();
    const { submitted, sent } = await sentFor(request);
    expect(submitted).toEqual({ operation: { id }, traceId: id });
    expect(sent).toMatchObject({
      method: 'POST',
      url: `${root}/videos`,
      headers: { authorization: 'Bearer test-key' },
    });
    expect(sent?.json).toEqual({ model, ...expected });
  });

  it('names our own address to call back, and no other', async () => {
    const { sent } = await sentFor(
      { extra: { callback_url: 'https://evil.example' } },
      'https://gw.example/cb',
    );
    expect(sent?.json).toMatchObject({ callback_url: 'https://gw.example/cb' });
    expect((await sentFor({ extra: { callback_url: 'https://evil.example' } })).sent?.json).toEqual({
      model,
      prompt,
    });
  });

  it('never lets metadata reach a field that the gateway decides', async () => {
    const names = fc.oneof(
      fc.constantFrom(...openrouterOwnFields),
      fc.string({ minLength: 1, maxLength: 12 }),
    );
    const metadata = fc.dictionary(names, fc.jsonValue(), { noNullPrototype: true });
    const plain = (await sentFor({ firstFrame: a })).sent?.json;
    await fc.assert(
      fc.asyncProperty(metadata, async (said) => {
        const extra = JSON.parse(JSON.stringify(said));
        const passed = Object.entries(extra).filter(([name]) => !openrouterOwnFields.includes(name));
        const { sent } = await sentFor({ firstFrame: a, extra });
        expect(sent?.json).toEqual({ ...Object.fromEntries(passed), ...plain });
      }),
      { numRuns: 100 },
    );
  });

  it.each<[string, Partial<VideoRequest>, string | undefined]>([
    ['a draft', { draft: true }, 'metadata.draft'],
    ['a length of its choice', { duration: 'auto' }, 'duration'],
    ['text in a ratio of its choice', { ratio: 'adaptive' }, 'ratio'],
    ['references in their ratio', { ratio: 'adaptive', references: [a] }, undefined],
    ['a frame and a reference', { firstFrame: a, references: [b] }, 'images'],
    ['a frame and a video', { firstFrame: a, videos: [clip] }, 'videos'],
    ['whatever the vendor may have', { resolution: '8K', ratio: '5:4', duration: 99 }, undefined],
  ])('check: %s', (_, request, param) => {
    expect(videoIssue(video, videoRequest(request), model)?.param).toBe(param);
  });
});

const statusOf = (answer: CannedAnswer) =>
  video.status({ id }, providerContext({ request: canned(answer).request }));

describe('a job', () => {
  it('that is completed has a link that works with the key, and a cost', async () => {
    const upstream = canned({ json: fixture('openrouter/completed') });
    const context = providerContext({ request: upstream.request });
    const url = `${root}/videos/${id}/content?index=0`;
    expect(await video.status({ id }, context)).toEqual({
      state: 'succeeded',
      items: [{ url }],
      facts: {},
      cost: { amount: '0.25', unit: 'USD' },
      traceId: 'gen-1763719300-xyz',
    });
    expect(upstream.sent[0]).toMatchObject({ method: 'GET', url: `${root}/videos/${id}` });
    expect(video.linkHeaders?.(url, context)).toEqual({ authorization: 'Bearer test-key' });
    expect(video.linkHeaders?.('https://files.example/a.mp4', context)).toEqual({});
  });

  const done = { id, status: 'completed', unsigned_urls: [a] };
  it.each<[string, CannedAnswer, object]>([
    ['pending', { json: fixture('openrouter/created') }, { state: 'pending', phase: 'submitted' }],
    ['in_progress', { json: { id, status: 'in_progress' } }, { state: 'pending', phase: 'running' }],
    [
      'a word that is not known',
      { json: { id, status: 'dreaming' } },
      { state: 'pending', phase: 'running' },
    ],
    ['completed, with links for everybody', { json: { ...done, urls: [clip] } }, { items: [{ url: clip }] }],
    [
      'completed, without usage',
      { json: { ...done, usage: null } },
      { state: 'succeeded', items: [{ url: a }], facts: {} },
    ],
    [
      'completed, with a key of one’s own',
      { json: { ...done, usage: { cost: 0.1, is_byok: true } } },
      { state: 'succeeded', items: [{ url: a }], facts: {} },
    ],
    [
      'failed',
      { json: fixture('openrouter/failed') },
      {
        state: 'failed',
        code: 'failed',
        message: 'Content policy violation',
        failure: { class: 'moderation_input' },
      },
    ],
    ['failed without a reason', { json: { status: 'failed' } }, { failure: { class: 'internal' } }],
    ['cancelled', { json: { status: 'cancelled' } }, { failure: { class: 'cancelled' } }],
    ['expired', { json: { status: 'expired' } }, { failure: { class: 'expired' } }],
  ])('in %s', async (_, answer, expected) => {
    expect(await statusOf(answer)).toMatchObject(expected);
  });

  it.each<[number | null | string, string | undefined]>([
    [0.25, '0.25'],
    ['1.5', '1.5'],
    [0, undefined],
    [1e-9, undefined],
    [null, undefined],
  ])('that says it cost %j', async (cost, amount) => {
    const status = await statusOf({ json: { ...done, usage: { cost } } });
    expect(status.state === 'succeeded' && status.cost?.amount).toBe(amount);
  });

  it.each<[string, CannedAnswer, boolean, string]>([
    ['an unknown id', { status: 404, json: { error: { code: 404, message: 'm' } } }, true, 'unknown_job'],
    ['a 404 of a proxy', { status: 404, text: '<html>' }, false, 'http_404'],
    ['a page', { text: '<html>' }, false, 'unreadable_answer'],
    ['no file', { json: { status: 'completed', unsigned_urls: [null] } }, false, 'unreadable_answer'],
    ['trouble', { status: 500, json: { error: { message: 'm' } } }, false, 'http_500'],
  ])('reports no state: %s', async (_, answer, ...[gone, code]) => {
    const error = await upstreamError(statusOf(answer));
    expect([error.gone, error.code]).toEqual([gone, code]);
  });
});

describe('a refused create', () => {
  const said = (message: string) => ({ error: { message } });
  it.each<[string, CannedAnswer, string, string]>([
    ['its content', { status: 403, json: fixture('openrouter/refused') }, 'rejected', 'moderation_input'],
    ['a permission', { status: 403, json: said('Only for some keys') }, 'unavailable', 'quota'],
    ['a field', { status: 400, json: said('duration is not supported') }, 'rejected', 'invalid_input'],
    ['an unknown model', { status: 404, json: said('No endpoints found') }, 'unavailable', 'quota'],
    ['time', { status: 408, json: said('m') }, 'ambiguous', 'internal'],
    ['the vendor behind it', { status: 502, json: said('Provider returned error') }, 'ambiguous', 'internal'],
    ['nobody who serves it', { status: 503, json: said('m') }, 'throttled', 'capacity'],
    ['load', { status: 529, json: said('m') }, 'throttled', 'capacity'],
    ['time of the edge', { status: 524, json: said('m') }, 'ambiguous', 'internal'],
    ['a page of 503', { status: 503, text: '<html>' }, 'ambiguous', 'internal'],
    ['no id', { status: 202, json: {} }, 'ambiguous', 'internal'],
  ])('for %s', async (_, answer, ...expected) => {
    const context = submitContext({ request: canned(answer).request });
    const error = await upstreamError(video.submit(videoRequest(), context));
    expect([error.outcome, error.failure.class]).toEqual(expected);
  });
});

describe('a callback', () => {
  const body = fixture('openrouter/callback');
  const now = 1_763_719_200_000;
  const secret = 's3cret';
  const signed = (seconds: number, key = secret) => {
    const text = `${seconds},${JSON.stringify(body)}`;
    return {
      'x-openrouter-signature': `t=${seconds},v1=${createHmac('sha256', key).update(text).digest('hex')}`,
    };
  };
  const verified = (headers: Readonly<Record<string, string>>, callbackSecret?: string) => {
    const credential = { id: 'a', apiKey: 'k', ...(callbackSecret && { callbackSecret }) };
    return video.verifyCallback?.(callback(body, headers), { ...providerContext({ credential }), now });
  };

  it('says that the job ended', () => {
    expect(video.parseCallback?.(callback(body))).toEqual({ ended: true });
    expect(video.parseCallback?.(callback({ type: 'other' }))).toEqual({ ended: false });
  });

  it.each<[string, Readonly<Record<string, string>>, string | undefined, boolean]>([
    ['with its signature', signed(now / 1000), secret, true],
    ['without a secret of ours', {}, undefined, true],
    ['without a signature', {}, secret, false],
    ['with that of another secret', signed(now / 1000, 'other'), secret, false],
    ['that is six minutes old', signed(now / 1000 - 360), secret, false],
    ['with a broken signature', { 'x-openrouter-signature': 't=1,v1=x' }, secret, false],
  ])('%s', async (_, headers, callbackSecret, expected) => {
    expect(await verified(headers, callbackSecret)).toBe(expected);
  });
});

describe('against the dialect', () => {
  const simulator = useSimulator({ renderSeconds: 8 });

  it.each<[string, Partial<VideoRequest>]>([
    ['text', everything],
    ['frames', { firstFrame: a, lastFrame: b, resolution: '4k' }],
    ['references', { references: [a], videos: [clip], audios: [sound] }],
  ])('%s is accepted and rendered', async (_, asked) => {
    const baseUrl = `${simulator.url}/openrouter/api/v1`;
    const context = submitContext({ request: simulator.request, baseUrl, model });
    const { operation } = await video.submit(videoRequest(asked), context);
    simulator.control.advance(9);
    expect(await video.status(operation, context)).toMatchObject({
      state: 'succeeded',
      cost: { unit: 'USD' },
    });
  });

  it('its callback carries the signature that the adapter expects', async () => {
    const receiver = await startReceiver();
    const baseUrl = `${simulator.url}/openrouter/api/v1`;
    const credential = { id: 'a', apiKey: 'test-key', callbackSecret: 'openrouter-signing-secret' };
    const context = submitContext({
      request: simulator.request,
      baseUrl,
      model,
      credential,
      callbackUrl: receiver.url,
    });
    await video.submit(videoRequest(), context);
    simulator.control.advance(9);
    await receiver.waitFor(1);
    const [sent] = receiver.received;
    const came = { ...callback(sent?.body), header: (name: string) => String(sent?.headers[name] ?? '') };
    expect(video.parseCallback?.(came)).toEqual({ ended: true });
    const now = Date.now();
    expect(await video.verifyCallback?.(came, { ...context, now })).toBe(true);
    const other = { ...credential, callbackSecret: 'other' };
    expect(await video.verifyCallback?.(came, { ...context, credential: other, now })).toBe(false);
    await receiver.close();
  });
});
