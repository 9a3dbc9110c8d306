import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { VideoRequest } from '../../../src/models/request.ts';
import { openrouter } from '../../../src/providers/openrouter/index.ts';
import { canned, fixture, providerContext } from '../support.ts';
import { videoTables } from '../vendor-tables.ts';

const { video } = openrouter;
if (video === undefined) throw new Error('there are no videos');

const a = 'https://ex.com/a.png';
const b = 'data:image/png;base64,QUJD';
const clip = 'https://ex.com/a.mp4';
const sound = 'https://ex.com/a.mp3';
const prompt = 'a fox in the snow';
const model = 'bytedance/seedance-2.0';
const id = 'gen-vid-1763719200-abc';
const root = 'https://upstream.example/api/v3';
const image = (url: string) => ({ type: 'image_url', image_url: { url } });

const videos = videoTables(video, {
  model,
  operation: { id },
  created: { status: 202, json: fixture('openrouter/created') },
});

const everything: Partial<VideoRequest> = {
  resolution: '720P',
  ratio: '9:16',
  duration: 8,
  generateAudio: false,
  seed: 7,
  safetyIdentifier: 'u1',
};

describe('a request', () => {
  videos.sends([
    ['text', {}, { prompt }],
    ['text with everything', { ...everything, extra: { theirs: 1, negative_prompt: 'rain', provider: { options: {} } } },
      { prompt, resolution: '720p', aspect_ratio: '9:16', duration: 8, generate_audio: false, seed: 7, user: 'u1', theirs: 1 }],
    ['a class of resolutions', { resolution: '4k' }, { prompt, resolution: '4K' }],
    ['both frames, without words and in their ratio', { firstFrame: a, lastFrame: b, prompt: '', ratio: 'adaptive' },
      { frame_images: [{ ...image(a), frame_type: 'first_frame' }, { ...image(b), frame_type: 'last_frame' }] }],
    ['references of all kinds', { references: [a, b], videos: [clip], audios: [sound] },
      { prompt, input_references: [image(a), image(b), { type: 'video_url', video_url: { url: clip } }, { type: 'audio_url', audio_url: { url: sound } }] }],
  ], () => ({ model })); // prettier-ignore

  it('is posted with the key, and with no callback address but ours', async () => {
    const asked = { extra: { callback_url: 'https://evil.example' } };
    const callbackUrl = 'https://gw.example/cb';
    const { submitted, sent } = await videos.sentFor(asked, model, { callbackUrl });
    expect(submitted).toEqual({ operation: { id }, traceId: id });
    expect(sent).toMatchObject({
      method: 'POST',
      url: `${root}/videos`,
      headers: { authorization: 'Bearer test-key' },
      json: { callback_url: callbackUrl },
    });
    expect((await videos.sentFor(asked)).json).toEqual({ model, prompt });
  });

  videos.checks([
    ['a length of its choice', { duration: 'auto' }, 'duration'],
    ['text in a ratio of its choice', { ratio: 'adaptive' }, 'ratio'],
    ['references in their ratio', { ratio: 'adaptive', references: [a] }, undefined],
  ]);
});

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
  videos.readsPart([
    ['pending', { json: fixture('openrouter/created') }, { state: 'pending', phase: 'submitted' }],
    ['in_progress', { json: { id, status: 'in_progress' } }, { state: 'pending', phase: 'running' }],
    ['a word that is not known', { json: { id, status: 'dreaming' } }, { state: 'pending', phase: 'running' }],
    ['completed, with links for everybody', { json: { ...done, urls: [clip] } }, { items: [{ url: clip }] }],
    ['completed, without usage', { json: { ...done, usage: null } }, { state: 'succeeded', items: [{ url: a }], facts: {} }],
    ['completed, with a key of one’s own', { json: { ...done, usage: { cost: 0.1, is_byok: true } } }, { state: 'succeeded', items: [{ url: a }], facts: {} }],
    ['failed', { json: fixture('openrouter/failed') },
      { state: 'failed', code: 'failed', message: 'Content policy violation', failure: { class: 'moderation_input' } }],
    ['failed without a reason', { json: { status: 'failed' } }, { failure: { class: 'internal' } }],
    ['cancelled', { json: { status: 'cancelled' } }, { failure: { class: 'cancelled' } }],
    ['expired', { json: { status: 'expired' } }, { failure: { class: 'expired' } }],
  ]); // prettier-ignore

  it.each<[number | null | string, string | undefined]>([
    [0.25, '0.25'],
    ['1.5', '1.5'],
    [0, undefined],
    [1e-9, undefined],
    [null, undefined],
  ])('that says it cost %j', async (cost, amount) => {
    const status = await videos.statusOf({ json: { ...done, usage: { cost } } });
    expect(status?.state === 'succeeded' && status.cost?.amount).toBe(amount);
  });

  videos.readsNoState([
    ['an unknown id', { status: 404, json: { error: { code: 404, message: 'm' } } }, true, 'unknown_job'],
    ['no file', { json: { status: 'completed', unsigned_urls: [null] } }, false, 'unreadable_answer'],
    ['trouble', { status: 500, json: { error: { message: 'm' } } }, false, 'http_500'],
  ]);
});

describe('a refused create', () => {
  const said = (message: string) => ({ error: { message } });
  videos.isRefused([
    ['its content', { status: 403, json: fixture('openrouter/refused') }, 'rejected', 'moderation_input'],
    ['a permission', { status: 403, json: said('Only for some keys') }, 'unavailable', 'quota'],
    ['a field', { status: 400, json: said('duration is not supported') }, 'rejected', 'invalid_input'],
    ['an unknown model', { status: 404, json: said('No endpoints found') }, 'unavailable', 'quota'],
    ['time', { status: 408, json: said('m') }, 'ambiguous', 'internal'],
    ['the vendor behind it', { status: 502, json: said('Provider returned error') }, 'ambiguous', 'internal'],
    ['nobody who serves it', { status: 503, json: said('m') }, 'throttled', 'capacity'],
    ['load', { status: 529, json: said('m') }, 'throttled', 'capacity'],
    ['time of the edge', { status: 524, json: said('m') }, 'ambiguous', 'internal'],
    ['no id', { status: 202, json: {} }, 'ambiguous', 'internal'],
  ]);
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

  videos.hears([
    [body, true],
    [{ type: 'other' }, false],
  ]);

  videos.verifies({ body, now }, [
    ['with its signature', signed(now / 1000), secret, true],
    ['without a secret of ours', {}, undefined, true],
    ['without a signature', {}, secret, false],
    ['with that of another secret', signed(now / 1000, 'other'), secret, false],
    ['that is six minutes old', signed(now / 1000 - 360), secret, false],
    ['with a broken signature', { 'x-openrouter-signature': 't=1,v1=x' }, secret, false],
  ]);
});
