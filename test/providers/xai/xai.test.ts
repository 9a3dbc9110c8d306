import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defined } from '../../../src/base/defined.ts';
import type { ImageInput, ImageRequest, VideoRequest } from '../../../src/models/request.ts';
import { xai } from '../../../src/providers/xai/index.ts';
import { xaiFacts } from '../../../src/providers/xai/xai-facts.ts';
import {
  canned,
  fixture,
  imageIssue,
  imageRequest,
  providerContext,
  submitContext,
  upstreamError,
  videoIssue,
  videoOutput,
  videoRequest,
} from '../support.ts';
import type { CannedAnswer } from '../support.ts';

const xaiOwnFields = ['video_task', ...(xaiFacts.others.reserved ?? [])];

const { video, image } = xai;
if (video === undefined || image === undefined) throw new Error('a capability is missing');

const a = 'https://ex.com/a.png';
const b = 'data:image/png;base64,QUJD';
const clip = 'https://ex.com/a.mp4';
const keyframes = [{ image: { url: 'https://ex.com/a.png' }, timestamp_s: 2.5 }];
const prompt = 'a fox in the snow';
const frames = (firstFrame: string, lastFrame?: string): Partial<VideoRequest> =>
  defined({ firstFrame, lastFrame });
const reference = (...images: string[]): Partial<VideoRequest> => ({ references: images });
const mp3 = 'https://ex.com/a.mp3';
const voices = (count: number): Partial<VideoRequest> => ({
  extra: { reference_audios: Array.from({ length: count }, () => ({ voice_id: 'ara' })) },
});
const edit: Partial<VideoRequest> = { videos: [clip] };
const extend: Partial<VideoRequest> = { ...edit, extra: { video_task: 'extend' } };
const root = 'https://upstream.example/api/v3';

async function sentFor(request: Partial<VideoRequest>, model: string) {
  const upstream = canned({ json: fixture('xai/created') });
  const context = submitContext({ model, request: upstream.request, callbackUrl: 'https://gw.example/cb' });
  const submitted = await video?.submit(videoRequest(request), context);
  return { submitted, sent: upstream.sent[0], json: upstream.sent[0]?.json };
}

describe('a request', () => {
  it.each<[string, Partial<VideoRequest>, string, string, object]>([
    ['text', {}, 'grok-imagine-video', 'generations', { prompt }],
    [
      'text with everything',
      { resolution: '1080P', ratio: '9:16', duration: 15, generateAudio: false, safetyIdentifier: 'u1' },
      'grok-imagine-video-1.5',
      'generations',
      { prompt, resolution: '1080p', aspect_ratio: '9:16', duration: 15, generate_audio: false, user: 'u1' },
    ],
    [
      'one image, which is the first frame',
      { ...frames(b), ratio: 'adaptive', prompt: '' },
      'grok-imagine-video',
      'generations',
      { image: { url: b } },
    ],
    [
      'both frames',
      frames(a, b),
      'grok-imagine-video-1.5',
      'generations',
      { prompt, image: { url: a }, last_frame: { url: b } },
    ],
    [
      'references, with a voice',
      { ...reference(a, b), extra: { reference_audios: [{ voice_id: 'ara' }] } },
      'grok-imagine-video-1.5',
      'generations',
      { prompt, reference_images: [{ url: a }, { url: b }], reference_audios: [{ voice_id: 'ara' }] },
    ],
    [
      'a sound and a voice, and no image',
      { audios: [mp3], extra: { reference_audios: [{ voice_id: 'ara' }] } },
      'grok-imagine-video-1.5',
      'generations',
      { prompt, reference_audios: [{ url: mp3 }, { voice_id: 'ara' }] },
    ],
    [
      'a video to edit, which keeps its shape and length',
      { ...edit, duration: 8, resolution: '480p', ratio: '16:9', safetyIdentifier: 'u1' },
      'grok-imagine-video-1.5',
      'edits',
      { prompt, video: { url: clip }, user: 'u1' },
    ],
    [
      'a video to extend',
      { ...extend, duration: 10, resolution: '480p', safetyIdentifier: 'u1' },
      'grok-imagine-video',
      'extensions',
      { prompt, video: { url: clip }, duration: 10 },
    ],
  ])('%s', async (_, request, model, ...[path, expected]) => {
    expect(videoIssue(video, videoRequest(request), model)).toBeUndefined();
    const { submitted, sent, json } = await sentFor(request, model);
    const id = 'd97415a1-5796-b7ec-379f-4e6819e08fdf';
    expect(submitted).toEqual({ operation: { id }, traceId: id });
    expect(sent).toMatchObject({
      method: 'POST',
      url: `${root}/videos/${path}`,
      headers: { authorization: 'Bearer test-key' },
    });
    expect(json).toEqual({ model, ...expected });
  });

  it('never lets metadata reach a field that the gateway decides', async () => {
    const names = fc.oneof(fc.constantFrom(...xaiOwnFields), fc.string({ minLength: 1, maxLength: 12 }));
    const metadata = fc.dictionary(names, fc.jsonValue(), { noNullPrototype: true });
    await fc.assert(
      fc.asyncProperty(metadata, async (said) => {
        const extra = JSON.parse(JSON.stringify(said));
        const plain = (await sentFor(reference(a), 'grok-imagine-video')).json ?? {};
        const { json = {} } = await sentFor({ ...reference(a), extra }, 'grok-imagine-video');
        for (const name of xaiOwnFields) expect(json[name]).toEqual(plain[name]);
        for (const name of Object.keys(extra)) {
          if (!xaiOwnFields.includes(name)) expect(json[name]).toEqual(extra[name]);
        }
      }),
      { numRuns: 100 },
    );
  });

  it.each<[string, Partial<VideoRequest>, string, string | undefined]>([
    ['a draft', { draft: true }, 'grok-imagine-video', 'metadata.draft'],
    ['tools', { tools: [] }, 'grok-imagine-video', 'metadata.tools'],
    ['a seed', { seed: 1 }, 'grok-imagine-video', 'metadata.seed'],
    ['a watermark', { watermark: true }, 'grok-imagine-video', 'metadata.watermark'],
    ['no watermark', { watermark: false }, 'grok-imagine-video', undefined],
    ['a sound', { audios: [mp3] }, 'grok-imagine-video-1.5', undefined],
    ['a sound of the first', { audios: [mp3] }, 'grok-imagine-video', 'audios'],
    ['a sound of lite', { audios: [mp3] }, 'grok-imagine-video-1.5-lite', 'audios'],
    ['a sound for an edit', { ...edit, audios: [mp3] }, 'grok-imagine-video-1.5', 'audios'],
    ['1080p of sounds', { audios: [mp3], resolution: '1080p' }, 'grok-imagine-video-1.5', 'resolution'],
    ['three voices', voices(3), 'grok-imagine-video-1.5', undefined],
    ['1080p of a voice', { ...voices(1), resolution: '1080p' }, 'grok-imagine-video-1.5', 'resolution'],
    ['four voices', voices(4), 'grok-imagine-video-1.5', 'metadata.reference_audios'],
    [
      'a sound and three voices',
      { ...voices(3), audios: [mp3] },
      'grok-imagine-video-1.5',
      'metadata.reference_audios',
    ],
    ['a voice of the first', voices(1), 'grok-imagine-video', 'metadata.reference_audios'],
    ['a voice of lite', voices(1), 'grok-imagine-video-1.5-lite', 'metadata.reference_audios'],
    ['a voice for an edit', { ...edit, ...voices(1) }, 'grok-imagine-video-1.5', 'metadata.reference_audios'],
    ['an asset', frames('asset://1'), 'grok-imagine-video', 'images'],
    ['nothing', { prompt: '' }, 'grok-imagine-video', 'prompt'],
    ['two frames of the first', frames(a, b), 'grok-imagine-video', 'images'],
    ['two frames of lite', frames(a, b), 'grok-imagine-video-1.5-lite', 'images'],
    ['two references of lite', reference(a, b), 'grok-imagine-video-1.5-lite', 'images'],
    ['one frame of lite', frames(a), 'grok-imagine-video-1.5-lite', undefined],
    [
      'seven references',
      reference(...Array.from({ length: 7 }, () => a)),
      'grok-imagine-video-1.5',
      undefined,
    ],
    [
      'eight references',
      reference(...Array.from({ length: 8 }, () => a)),
      'grok-imagine-video-1.5',
      'images',
    ],
    ['1080p of the first', { resolution: '1080p' }, 'grok-imagine-video', 'resolution'],
    ['1080p of lite', { resolution: '1080p' }, 'grok-imagine-video-1.5-lite', undefined],
    [
      '1080p of references',
      { ...reference(a, b), resolution: '1080p' },
      'grok-imagine-video-1.5',
      'resolution',
    ],
    ['21:9', { ratio: '21:9' }, 'grok-imagine-video-1.5', 'ratio'],
    ['adaptive text', { ratio: 'adaptive' }, 'grok-imagine-video', 'ratio'],
    ['16 s', { duration: 16 }, 'grok-imagine-video', 'duration'],
    ['a length of its choice', { duration: 'auto' }, 'grok-imagine-video', 'duration'],
    [
      'a task without a video',
      { extra: { video_task: 'edit' } },
      'grok-imagine-video',
      'metadata.video_task',
    ],
    ['keyframes', { extra: { keyframes } }, 'grok-imagine-video-1.5', undefined],
    ['one keyframe', { extra: { keyframes: 'one' } }, 'grok-imagine-video-1.5', 'metadata.keyframes'],
    ['keyframes of the first', { extra: { keyframes } }, 'grok-imagine-video', 'metadata.keyframes'],
    ['keyframes of lite', { extra: { keyframes } }, 'grok-imagine-video-1.5-lite', 'metadata.keyframes'],
    [
      'keyframes of an edit',
      { ...edit, extra: { keyframes } },
      'grok-imagine-video-1.5',
      'metadata.keyframes',
    ],
    ['two videos', { videos: [clip, clip] }, 'grok-imagine-video', 'videos'],
    ['a video and an image', { ...edit, references: [a] }, 'grok-imagine-video', 'images'],
    ['an edit without words', { ...edit, prompt: '' }, 'grok-imagine-video', 'prompt'],
    ['a silent edit', { ...edit, generateAudio: false }, 'grok-imagine-video', 'metadata.generate_audio'],
    ['an extension of 1.5', extend, 'grok-imagine-video-1.5', 'metadata.video_task'],
    ['an extension of 1 s', { ...extend, duration: 1 }, 'grok-imagine-video', 'duration'],
    ['an extension of 11 s', { ...extend, duration: 11 }, 'grok-imagine-video', 'duration'],
    ['an extension of 2 s', { ...extend, duration: 2 }, 'grok-imagine-video', undefined],
  ])('check: %s', (_, request, model, param) => {
    expect(videoIssue(video, videoRequest(request), model)?.param).toBe(param);
  });

  it.each<[string, Partial<VideoRequest>, object]>([
    ['text', {}, { resolutions: ['480p'], seconds: { min: 8, max: 8 } }],
    ['what is said', { resolution: '720p', duration: 5 }, {}],
    ['an edit', { ...edit, duration: 5 }, { resolutions: ['720p', '480p'], seconds: { min: 1, max: 9 } }],
    ['an extension', extend, { resolutions: ['720p', '480p'], seconds: { min: 6, max: 6 } }],
  ])('may render, of %s', (_, request, expected) => {
    expect(videoOutput(video, videoRequest(request), 'grok-imagine-video')).toEqual(expected);
  });
});

const statusOf = (answer: CannedAnswer) =>
  video.status({ id: 'x' }, providerContext({ request: canned(answer).request }));

describe('a job', () => {
  it('that is done has a link, its length, and a cost without rounding', async () => {
    const upstream = canned({ json: fixture('xai/done') });
    expect(await video.status({ id: 'x' }, providerContext({ request: upstream.request }))).toEqual({
      state: 'succeeded',
      items: [{ url: 'https://vidgen.example.com/a.mp4' }],
      facts: { durationSeconds: 5 },
      cost: { amount: '0.7', unit: 'USD' },
    });
    expect(upstream.sent[0]).toMatchObject({ method: 'GET', url: `${root}/videos/x` });
  });

  it.each<[string, CannedAnswer, object]>([
    [
      '202',
      { status: 202, json: fixture('xai/pending') },
      { state: 'pending', phase: 'running', progress: 40 },
    ],
    ['202 without a body', { status: 202, text: '' }, { state: 'pending', phase: 'running' }],
    ['pending', { json: { status: 'pending' } }, { state: 'pending', phase: 'running' }],
    ['a word that is not known', { json: { status: 'dreaming' } }, { state: 'pending', phase: 'running' }],
    [
      'done without usage',
      { json: { status: 'done', video: { url: a } } },
      { state: 'succeeded', items: [{ url: a }], facts: {} },
    ],
    [
      'no status, but a link',
      { json: { video: { url: a } } },
      { state: 'succeeded', items: [{ url: a }], facts: {} },
    ],
    [
      'done, and moderated',
      { json: fixture('xai/moderated') },
      {
        state: 'failed',
        code: 'respect_moderation',
        message: 'The video did not pass moderation.',
        failure: { class: 'moderation_output' },
        cost: { amount: '0.25', unit: 'USD' },
      },
    ],
    [
      'failed',
      { json: fixture('xai/failed') },
      {
        state: 'failed',
        code: 'invalid_argument',
        message: 'The image could not be read.',
        failure: { class: 'invalid_input' },
      },
    ],
    [
      'failed without a reason',
      { json: { status: 'failed' } },
      {
        state: 'failed',
        code: 'failed',
        message: 'The upstream gave no reason.',
        failure: { class: 'internal' },
      },
    ],
    [
      'expired',
      { json: { status: 'expired' } },
      {
        state: 'failed',
        code: 'upstream_expired',
        message: 'The upstream abandoned the job.',
        failure: { class: 'expired' },
      },
    ],
  ])('in %s', async (_, answer, expected) => {
    expect(await statusOf(answer)).toEqual(expected);
  });

  it.each<[string, CannedAnswer, boolean, string]>([
    ['an unknown id', { status: 404, json: { error: 'not found' } }, true, 'unknown_job'],
    ['a 404 of a proxy', { status: 404, text: '<html>' }, false, 'http_404'],
    ['a page', { text: '<html>' }, false, 'unreadable_answer'],
    ['no file', { json: { status: 'done', video: { url: '' } } }, false, 'unreadable_answer'],
    ['trouble', { status: 500, json: { error: 'x' } }, false, 'http_500'],
  ])('reports no state: %s', async (_, answer, ...[gone, code]) => {
    const error = await upstreamError(statusOf(answer));
    expect([error.gone, error.code]).toEqual([gone, code]);
  });

  it.each<[number, string | undefined]>([
    [1, '0.0000000001'],
    [10_000_000_000, '1'],
    [123_456_789_012, '12.3456789012'],
    [0, undefined],
  ])('that costs %s ticks costs %s dollars', async (cost_in_usd_ticks, amount) => {
    const status = await statusOf({
      json: { status: 'done', video: { url: a }, usage: { cost_in_usd_ticks } },
    });
    expect(status).toMatchObject(amount === undefined ? {} : { cost: { amount, unit: 'USD' } });
    expect('cost' in status).toBe(amount !== undefined);
  });
});

describe('a refused create', () => {
  const code = 'Client specified an invalid argument';
  it.each<[string, CannedAnswer, string, string]>([
    ['a wrong key', { status: 400, json: fixture('xai/refused') }, 'unavailable', 'quota'],
    [
      'an unknown model',
      { status: 400, json: { code, error: 'Model not found: x' } },
      'unavailable',
      'quota',
    ],
    [
      'its content',
      { status: 400, json: { code, error: 'Content violates usage guidelines.' } },
      'rejected',
      'moderation_input',
    ],
    [
      'its content, with 403',
      { status: 403, json: { code: 'x', error: 'Content violates usage guidelines.' } },
      'rejected',
      'moderation_input',
    ],
    [
      'a field',
      { status: 400, json: { code, error: 'Argument not supported on this model: seed' } },
      'rejected',
      'invalid_input',
    ],
    [
      'a field, in the nested body',
      { status: 422, json: { error: { message: 'm', type: 'invalid_request_error', param: 'duration' } } },
      'rejected',
      'invalid_input',
    ],
    ['a field, in words alone', { status: 422, json: { error: 'm' } }, 'rejected', 'invalid_input'],
    ['a dead key', { status: 401, json: { error: 'm' } }, 'unavailable', 'quota'],
    [
      'no permission',
      { status: 403, json: { code: 'The caller does not have permission to execute', error: 'm' } },
      'unavailable',
      'quota',
    ],
    ['no credits', { status: 402, json: { error: 'Your credits are used up.' } }, 'unavailable', 'quota'],
    ['an unknown path', { status: 404, json: { error: 'm' } }, 'unavailable', 'quota'],
    [
      'the pace',
      { status: 429, json: { code: 'Some resource has been exhausted', error: 'Too many requests' } },
      'throttled',
      'capacity',
    ],
    [
      'a spending limit',
      {
        status: 429,
        json: { code: 'Some resource has been exhausted', error: 'monthly spending limit reached' },
      },
      'unavailable',
      'quota',
    ],
    ['capacity', { status: 503, json: { error: 'The service is at capacity.' } }, 'throttled', 'capacity'],
    ['trouble', { status: 500, json: { error: 'm' } }, 'ambiguous', 'internal'],
    ['a page of 502', { status: 502, text: '<html>' }, 'ambiguous', 'internal'],
    ['a page of 503', { status: 503, text: '<html>' }, 'ambiguous', 'internal'],
    ['no id', { json: {} }, 'ambiguous', 'internal'],
  ])('for %s', async (_, answer, ...expected) => {
    const error = await upstreamError(
      video.submit(videoRequest(), submitContext({ request: canned(answer).request })),
    );
    expect([error.outcome, error.failure.class]).toEqual(expected);
  });
});

describe('an image', () => {
  const link: ImageInput = { form: 'url', url: a };
  const data: ImageInput = { form: 'data', mediaType: 'image/png', base64: 'QUJD' };
  const item = (url: string) => ({ url, type: 'image_url' });

  it.each<[string, Partial<ImageRequest>, string, object]>([
    ['text', {}, 'generations', { n: 1 }],
    [
      'pixels and a quality',
      { n: 10, size: '1280x720', quality: 'low', responseFormat: 'b64_json', extra: { style: 'x' } },
      'generations',
      { n: 10, aspect_ratio: '16:9', resolution: '1k', quality: 'low', response_format: 'b64_json' },
    ],
    ['an image', { images: [data], size: '2K' }, 'edits', { n: 1, resolution: '2k', image: item(b) }],
    ['several images', { images: [link, data] }, 'edits', { n: 1, images: [item(a), item(b)] }],
  ])('of %s', async (_, request, path, expected) => {
    const model = 'grok-imagine-image-2.0';
    const upstream = canned({ json: fixture('xai/images') });
    expect(imageIssue(image, imageRequest(request), model)).toBeUndefined();
    await image.generate(imageRequest(request), providerContext({ model, request: upstream.request }));
    expect(upstream.sent[0]?.url).toBe(`${root}/images/${path}`);
    expect(upstream.sent[0]?.json).toEqual({ model, prompt: 'a red cube', ...expected });
  });

  it.each<[string, Partial<ImageRequest>, string, string | undefined]>([
    ['six images', { images: Array.from({ length: 6 }, () => link) }, 'grok-imagine-image-2.0', 'image'],
    ['a mask', { images: [link], mask: data }, 'grok-imagine-image-2.0', 'mask'],
    ['a seed', { extra: { seed: 1 } }, 'grok-imagine-image-2.0', 'seed'],
    ['a high quality', { quality: 'high' }, 'grok-imagine-image-2.0', undefined],
    ['a quality of the first', { quality: 'low' }, 'grok-imagine-image', 'quality'],
    ['21:9', { size: '2100x900' }, 'grok-imagine-image', 'size'],
    ['many pixels', { size: '4096x4096' }, 'grok-imagine-image', 'size'],
    ['2048x2048', { size: '2048x2048' }, 'grok-imagine-image', undefined],
  ])('check: %s', (_, request, model, param) => {
    expect(imageIssue(image, imageRequest(request), model)?.param).toBe(param);
  });

  const generate = (answer: CannedAnswer) =>
    image.generate(imageRequest(), providerContext({ request: canned(answer).request }));

  it('that was moderated is missing, and the cost covers all', async () => {
    expect(await generate({ json: fixture('xai/images') })).toEqual({
      images: [{ url: 'https://imgen.example.com/1.jpeg' }],
      facts: { images: 1 },
      extra: {},
      cost: { amount: '0.06', unit: 'USD' },
    });
    expect((await generate({ json: { data: [{ b64_json: 'QUJD' }] } })).images).toEqual([{ base64: 'QUJD' }]);
  });

  it.each<[string, CannedAnswer, string, string]>([
    [
      'all are moderated',
      { json: { data: [{ url: '', respect_moderation: false }] } },
      'rejected',
      'moderation_output',
    ],
    ['there is none', { json: { data: [] } }, 'ambiguous', 'internal'],
    ['the key is wrong', { status: 400, json: fixture('xai/refused') }, 'unavailable', 'quota'],
  ])('fails where %s', async (_, answer, ...expected) => {
    const error = await upstreamError(generate(answer));
    expect([error.outcome, error.failure.class]).toEqual(expected);
  });
});
