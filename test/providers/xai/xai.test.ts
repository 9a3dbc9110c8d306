import { describe, expect, it } from 'vitest';
import { defined } from '../../../src/base/defined.ts';
import type { ImageInput, VideoRequest } from '../../../src/models/request.ts';
import { withTypedAnswers } from '../../../src/providers/typed-answers.ts';
import { xai } from '../../../src/providers/xai/index.ts';
import { canned, fixture, imageRequest, providerContext, upstreamError } from '../support.ts';
import type { CannedAnswer } from '../support.ts';
import { imageTables, videoTables } from '../vendor-tables.ts';

const { video, image } = withTypedAnswers(xai);
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

const videos = videoTables(video, {
  model: 'grok-imagine-video',
  operation: { id: 'x' },
  created: { json: fixture('xai/created') },
  context: { callbackUrl: 'https://gw.example/cb' },
});
const images = imageTables(image, {
  model: 'grok-imagine-image-2.0',
  created: { json: fixture('xai/images') },
});

describe('a request', () => {
  it('is posted with the key', async () => {
    const { submitted, sent } = await videos.sentFor({});
    const id = 'd97415a1-5796-b7ec-379f-4e6819e08fdf';
    expect(submitted).toEqual({ operation: { id }, traceId: id });
    expect(sent).toMatchObject({ method: 'POST', headers: { authorization: 'Bearer test-key' } });
  });

  videos.sends([
    ['text', {}, 'grok-imagine-video', 'generations', { prompt }],
    ['text with everything', { resolution: '1080P', ratio: '9:16', duration: 15, generateAudio: false, safetyIdentifier: 'u1' }, 'grok-imagine-video-1.5', 'generations',
      { prompt, resolution: '1080p', aspect_ratio: '9:16', duration: 15, generate_audio: false, user: 'u1' }],
    ['one image, which is the first frame', { ...frames(b), ratio: 'adaptive', prompt: '' }, 'grok-imagine-video', 'generations', { image: { url: b } }],
    ['both frames', frames(a, b), 'grok-imagine-video-1.5', 'generations', { prompt, image: { url: a }, last_frame: { url: b } }],
    ['references, with a voice', { ...reference(a, b), extra: { reference_audios: [{ voice_id: 'ara' }] } }, 'grok-imagine-video-1.5',
      'generations', { prompt, reference_images: [{ url: a }, { url: b }], reference_audios: [{ voice_id: 'ara' }] }],
    ['a sound and a voice, and no image', { audios: [mp3], extra: { reference_audios: [{ voice_id: 'ara' }] } }, 'grok-imagine-video-1.5',
      'generations', { prompt, reference_audios: [{ url: mp3 }, { voice_id: 'ara' }] }],
    ['a video to edit, which keeps its shape and length', { ...edit, duration: 8, resolution: '480p', ratio: '16:9', safetyIdentifier: 'u1' }, 'grok-imagine-video-1.5',
      'edits', { prompt, video: { url: clip }, user: 'u1' }],
    ['a video to extend', { ...extend, duration: 10, resolution: '480p', safetyIdentifier: 'u1' }, 'grok-imagine-video', 'extensions',
      { prompt, video: { url: clip }, duration: 10 }],
  ], (model) => ({ model }), '/videos/'); // prettier-ignore

  videos.checks([
    ['1080p of sounds', { audios: [mp3], resolution: '1080p' }, 'grok-imagine-video-1.5', 'resolution'],
    ['three voices', voices(3), 'grok-imagine-video-1.5', undefined],
    ['1080p of a voice', { ...voices(1), resolution: '1080p' }, 'grok-imagine-video-1.5', 'resolution'],
    ['four voices', voices(4), 'grok-imagine-video-1.5', 'metadata.reference_audios'],
    ['a sound and three voices', { ...voices(3), audios: [mp3] }, 'grok-imagine-video-1.5', 'metadata.reference_audios'],
    ['a voice of lite', voices(1), 'grok-imagine-video-1.5-lite', 'metadata.reference_audios'],
    ['a voice for an edit', { ...edit, ...voices(1) }, 'grok-imagine-video-1.5', 'metadata.reference_audios'],
    ['an asset', frames('asset://1'), 'grok-imagine-video', 'images'],
    ['nothing', { prompt: '' }, 'grok-imagine-video', 'prompt'],
    ['1080p of lite', { resolution: '1080p' }, 'grok-imagine-video-1.5-lite', undefined],
    ['1080p of references', { ...reference(a, b), resolution: '1080p' }, 'grok-imagine-video-1.5', 'resolution'],
    ['adaptive text', { ratio: 'adaptive' }, 'grok-imagine-video', 'ratio'],
    ['16 s', { duration: 16 }, 'grok-imagine-video', 'duration'],
    ['a task without a video', { extra: { video_task: 'edit' } }, 'grok-imagine-video', 'metadata.video_task'],
    ['keyframes of the first', { extra: { keyframes } }, 'grok-imagine-video', 'metadata.keyframes'],
    ['keyframes of an edit', { ...edit, extra: { keyframes } }, 'grok-imagine-video-1.5', 'metadata.keyframes'],
    ['a video and an image', { ...edit, references: [a] }, 'grok-imagine-video', 'images'],
    ['a silent edit', { ...edit, generateAudio: false }, 'grok-imagine-video', 'metadata.generate_audio'],
    ['an extension of 1.5', extend, 'grok-imagine-video-1.5', 'metadata.video_task'],
    ['an extension of 1 s', { ...extend, duration: 1 }, 'grok-imagine-video', 'duration'],
    ['an extension of 11 s', { ...extend, duration: 11 }, 'grok-imagine-video', 'duration'],
    ['an extension of 2 s', { ...extend, duration: 2 }, 'grok-imagine-video', undefined],
  ]); // prettier-ignore

  videos.renders([
    ['text', {}, { resolutions: ['480p'], seconds: { min: 8, max: 8 } }],
    ['what is said', { resolution: '720p', duration: 5 }, {}],
    ['an edit', { ...edit, duration: 5 }, { resolutions: ['720p', '480p'], seconds: { min: 1, max: 9 } }],
    ['an extension', extend, { resolutions: ['720p', '480p'], seconds: { min: 6, max: 6 } }],
  ]);
});

describe('a job', () => {
  it('that is done has a link, its length, and an exact cost', async () => {
    const headers = { date: 'Sat, 21 Nov 2026 10:00:00 GMT' };
    const { status, sent } = await videos.polled({ json: fixture('xai/done'), headers });
    const expiresAt = Date.parse('2026-11-22T10:00:00Z') / 1000;
    expect(status).toEqual({
      state: 'succeeded',
      items: [{ url: 'https://vidgen.example.com/a.mp4', expiresAt }],
      facts: { durationSeconds: 5 },
      cost: { amount: '0.7', unit: 'USD' },
    });
    expect(sent[0]).toMatchObject({ method: 'GET', url: `${root}/videos/x` });
  });

  videos.reads([
    ['202', { status: 202, json: fixture('xai/pending') }, { state: 'pending', phase: 'running', progress: 40 }],
    ['202 without a body', { status: 202, text: '' }, { state: 'pending', phase: 'running' }],
    ['pending', { json: { status: 'pending' } }, { state: 'pending', phase: 'running' }],
    ['a word that is not known', { json: { status: 'dreaming' } }, { state: 'pending', phase: 'running' }],
    ['done without usage', { json: { status: 'done', video: { url: a } } }, { state: 'succeeded', items: [{ url: a }], facts: {} }],
    ['no status, but a link', { json: { video: { url: a } } }, { state: 'succeeded', items: [{ url: a }], facts: {} }],
    [
      'a rejection of the rendered video',
      { status: 400, json: fixture('xai/rejected') },
      {
        state: 'failed',
        code: 'imagine:content-moderated',
        message: 'Generated video rejected by content moderation.',
        failure: { class: 'moderation_output' },
        cost: { amount: '0.25', unit: 'USD' },
      },
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
    ['failed', { json: fixture('xai/failed') },
      { state: 'failed', code: 'invalid_argument', message: 'The image could not be read.', failure: { class: 'invalid_input' } }],
    ['failed without a reason', { json: { status: 'failed' } },
      { state: 'failed', code: 'failed', message: 'The upstream gave no reason.', failure: { class: 'internal' } }],
    ['expired', { json: { status: 'expired' } },
      { state: 'failed', code: 'upstream_expired', message: 'The upstream abandoned the job.', failure: { class: 'expired' } }],
  ]); // prettier-ignore

  videos.readsNoState([
    ['an unknown id', { status: 404, json: { error: 'not found' } }, true, 'unknown_job'],
    ['no file', { json: { status: 'done', video: { url: '' } } }, false, 'unreadable_answer'],
    ['trouble', { status: 500, json: { error: 'x' } }, false, 'http_500'],
    [
      'an invalid argument',
      { status: 400, json: { code: 'invalid-argument', error: 'x' } },
      false,
      'invalid-argument',
    ],
  ]);

  it.each<[number, string | undefined]>([
    [1, '0.0000000001'],
    [10_000_000_000, '1'],
    [123_456_789_012, '12.3456789012'],
    [0, undefined],
  ])('that costs %s ticks costs %s dollars', async (cost_in_usd_ticks, amount) => {
    const status = await videos.statusOf({
      json: { status: 'done', video: { url: a }, usage: { cost_in_usd_ticks } },
    });
    expect(status).toMatchObject({ state: 'succeeded' });
    expect(status?.state === 'succeeded' && status.cost).toEqual(
      amount === undefined ? undefined : { amount, unit: 'USD' },
    );
  });
});

describe('a refused create', () => {
  videos.isRefused([
    ['a wrong key', { status: 400, json: fixture('xai/refused') }, 'unavailable', 'quota'],
    ['a field, in the nested body', { status: 422, json: { error: { message: 'm', type: 'invalid_request_error', param: 'duration' } } }, 'rejected', 'invalid_input'],
    ['a field, in words alone', { status: 422, json: { error: 'm' } }, 'rejected', 'invalid_input'],
    ['the pace', { status: 429, json: { code: 'Some resource has been exhausted', error: 'm' } }, 'throttled', 'capacity'],
    ['no id', { json: {} }, 'ambiguous', 'internal'],
  ]); // prettier-ignore
});

describe('an image', () => {
  const link: ImageInput = { form: 'url', url: a };
  const data: ImageInput = { form: 'data', mediaType: 'image/png', base64: 'QUJD' };
  const item = (url: string) => ({ url, type: 'image_url' });
  const drawn = 'grok-imagine-image-2.0';

  images.sends([
    ['text', {}, drawn, 'generations', { n: 1 }],
    ['pixels and a quality', { n: 10, size: '1280x720', quality: 'low', responseFormat: 'b64_json', extra: { style: 'x' } },
      drawn, 'generations', { n: 10, aspect_ratio: '16:9', resolution: '1k', quality: 'low', response_format: 'b64_json' }],
    ['an image', { images: [data], size: '2K' }, drawn, 'edits', { n: 1, resolution: '2k', image: item(b) }],
    ['several images', { images: [link, data] }, drawn, 'edits', { n: 1, images: [item(a), item(b)] }],
  ], (model) => ({ model, prompt: 'a red cube' }), '/images/'); // prettier-ignore

  images.checks([
    ['six images', { images: Array.from({ length: 6 }, () => link) }, 'grok-imagine-image-2.0', 'image'],
    ['a mask', { images: [link], mask: data }, 'grok-imagine-image-2.0', 'mask'],
    ['a seed', { extra: { seed: 1 } }, 'grok-imagine-image-2.0', 'seed'],
    ['a high quality', { quality: 'high' }, 'grok-imagine-image-2.0', undefined],
    ['a quality of the first', { quality: 'low' }, 'grok-imagine-image', 'quality'],
    ['21:9', { size: '2100x900' }, 'grok-imagine-image', 'size'],
    ['2048x2048', { size: '2048x2048' }, 'grok-imagine-image', undefined],
  ]);

  const generate = (answer: CannedAnswer) =>
    image.generate(imageRequest(), providerContext({ request: canned(answer).request }));

  it('that was moderated is missing, and the cost covers all images', async () => {
    expect(await generate({ json: fixture('xai/images') })).toEqual({
      images: [{ url: 'https://imgen.example.com/1.jpeg' }],
      facts: { images: 1 },
      extra: {},
      cost: { amount: '0.06', unit: 'USD' },
    });
    expect((await generate({ json: { data: [{ b64_json: 'QUJD' }] } })).images).toEqual([{ base64: 'QUJD' }]);
  });

  it('that was rendered and then rejected is charged by the vendor', async () => {
    const error = await upstreamError(generate({ status: 400, json: fixture('xai/rejected') }));
    expect(error).toMatchObject({ outcome: 'rejected', failure: { class: 'moderation_output' } });
    expect(error.cost).toEqual({ amount: '0.25', unit: 'USD' });
  });

  images.isRefused([
    ['all are moderated', { json: { data: [{ url: '', respect_moderation: false }] } }, 'rejected', 'moderation_output'],
    ['there is none', { json: { data: [] } }, 'ambiguous', 'internal'],
    ['the key is wrong', { status: 400, json: fixture('xai/refused') }, 'unavailable', 'quota'],
  ]); // prettier-ignore
});
