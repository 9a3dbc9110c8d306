import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ImageInput, ImageRequest, VideoRequest } from '../../../src/models/request.ts';
import { luma, lumaFacts } from '../../../src/providers/luma/index.ts';
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
import { useSimulator } from '../use-simulator.ts';

const { video, imageTask } = luma;
if (video === undefined || imageTask === undefined) throw new Error('a capability is missing');

const lumaOwnFields = ['video_task', ...(lumaFacts.others.reserved ?? [])];
const a = 'https://ex.com/a.png';
const b = 'data:image/png;base64,QUJD';
const clip = 'https://ex.com/a.mp4';
const prompt = 'a fox in the snow';
const model = 'ray-3.2';
const id = '182bd5e5-6e1a-4fe4-a799-aa6d9a6ab26e';
const byData = { data: 'QUJD', media_type: 'image/png' };
const edit: Partial<VideoRequest> = { videos: [clip] };
const reframe: Partial<VideoRequest> = { ...edit, extra: { video_task: 'reframe' } };
const root = 'https://upstream.example/api/v3';

async function sentFor(request: Partial<VideoRequest>) {
  const upstream = canned({ status: 201, json: fixture('luma/created') });
  const context = submitContext({ model, request: upstream.request, callbackUrl: 'https://gw.example/cb' });
  return { submitted: await video?.submit(videoRequest(request), context), sent: upstream.sent[0] };
}

describe('a video', () => {
  const source = { media_type: 'video/mp4', url: clip };

  it.each<[string, Partial<VideoRequest>, object]>([
    ['text', {}, { type: 'video' }],
    [
      'text with everything',
      { resolution: '1080P', ratio: '21:9', duration: 5, safetyIdentifier: 'u1', extra: { loop: true } },
      {
        type: 'video',
        aspect_ratio: '21:9',
        user_id: 'u1',
        video: { resolution: '1080p', duration: '5s', loop: true },
      },
    ],
    ['a first frame', { firstFrame: a }, { type: 'video', video: { start_frame: { url: a } } }],
    [
      'both frames',
      { firstFrame: a, lastFrame: b, duration: 5 },
      { type: 'video', video: { duration: '5s', start_frame: { url: a }, end_frame: byData } },
    ],
    [
      'a first frame of ten seconds',
      { firstFrame: b, duration: 10 },
      { type: 'video', video: { duration: '10s', keyframes: [byData], keyframe_indexes: [0] } },
    ],
    [
      'both frames of ten seconds',
      { firstFrame: a, lastFrame: b, duration: 10 },
      {
        type: 'video',
        video: { duration: '10s', keyframes: [{ url: a }, byData], keyframe_indexes: [0, 240] },
      },
    ],
    [
      'an edit, which keeps its length and ratio',
      { ...edit, duration: 7, ratio: '16:9', resolution: '540p' },
      { type: 'video_edit', source, video: { resolution: '540p' } },
    ],
    [
      'a video in another ratio',
      { ...reframe, ratio: '9:16' },
      { type: 'video_reframe', source, aspect_ratio: '9:16' },
    ],
    [
      'a video as data',
      { videos: ['data:video/quicktime;base64,QUJD'] },
      { type: 'video_edit', source: { data: 'QUJD', media_type: 'video/quicktime' } },
    ],
  ])('of %s', async (_, request, expected) => {
    expect(videoIssue(video, videoRequest(request), model)).toBeUndefined();
    const { submitted, sent } = await sentFor(request);
    expect(submitted).toEqual({ operation: { id }, traceId: id });
    expect(sent).toMatchObject({
      method: 'POST',
      url: `${root}/generations`,
      headers: { authorization: 'Bearer test-key' },
    });
    expect(sent?.json).toEqual({ model, prompt, ...expected });
  });

  it('never lets metadata reach a field that the gateway decides', async () => {
    const names = fc.oneof(fc.constantFrom(...lumaOwnFields), fc.string({ minLength: 1, maxLength: 12 }));
    const metadata = fc.dictionary(names, fc.jsonValue(), { noNullPrototype: true });
    const asked: Partial<VideoRequest> = { firstFrame: a, resolution: '720p' };
    const plain = (await sentFor(asked)).sent?.json;
    await fc.assert(
      fc.asyncProperty(metadata, async (said) => {
        const extra = JSON.parse(JSON.stringify(said));
        const theirs = Object.fromEntries(
          Object.entries(extra).filter(([name]) => !lumaOwnFields.includes(name)),
        );
        const { sent } = await sentFor({ ...asked, extra });
        const decided = { start_frame: { url: a }, resolution: '720p' };
        expect(sent?.json).toEqual({ ...plain, video: { ...theirs, ...decided } });
      }),
      { numRuns: 100 },
    );
  });

  it.each<[string, Partial<VideoRequest>, string | undefined]>([
    ['a draft', { draft: true }, 'metadata.draft'],
    ['no words', { prompt: '' }, 'prompt'],
    ['480p', { resolution: '480p' }, 'resolution'],
    ['360p', { resolution: '360p' }, undefined],
    ['3:2', { ratio: '3:2' }, 'ratio'],
    ['a ratio of its choice', { ratio: 'adaptive' }, 'ratio'],
    ['an edit in any ratio', { ...edit, ratio: '3:2' }, undefined],
    ['another ratio that it does not have', { ...reframe, ratio: '3:2' }, 'ratio'],
    ['no other ratio', reframe, 'ratio'],
    ['6 s', { duration: 6 }, 'duration'],
    ['an edit of 6 s', { ...edit, duration: 6 }, undefined],
    ['a length of its choice', { duration: 'auto' }, 'duration'],
    ['a seed', { seed: 1 }, 'metadata.seed'],
    ['sound of its own', { generateAudio: true }, 'metadata.generate_audio'],
    ['silence', { generateAudio: false }, undefined],
    ['a task without a video', { extra: { video_task: 'edit' } }, 'metadata.video_task'],
    ['a loop', { extra: { loop: true } }, undefined],
    ['a loop of ten seconds', { duration: 10, extra: { loop: true } }, 'metadata.loop'],
    ['ten seconds that do not loop', { duration: 10, extra: { loop: false } }, undefined],
    ['a loop of an edit', { ...edit, extra: { loop: true } }, 'metadata.loop'],
    ['a loop in words', { extra: { loop: 'yes' } }, 'metadata.loop'],
    ['a reference', { references: [a] }, 'images'],
    ['two videos', { videos: [clip, clip] }, 'videos'],
    ['a video and a frame', { ...edit, firstFrame: a }, 'videos'],
    ['sound', { audios: ['https://ex.com/a.mp3'] }, 'audios'],
  ])('check: %s', (_, request, param) => {
    expect(videoIssue(video, videoRequest(request), model)?.param).toBe(param);
  });

  it.each<[string, Partial<VideoRequest>, object]>([
    ['text', {}, { resolutions: ['720p'], seconds: { min: 5, max: 5 } }],
    ['what is said', { resolution: '1080p', duration: 10 }, {}],
    ['an edit', { ...edit, resolution: '540p', duration: 5 }, { seconds: { min: 1, max: 18 } }],
    ['another ratio', reframe, { resolutions: ['720p'], seconds: { min: 1, max: 30 } }],
  ])('may be, of %s', (_, request, expected) => {
    expect(videoOutput(video, videoRequest(request), model)).toEqual(expected);
  });
});

describe('an image', () => {
  const link: ImageInput = { form: 'url', url: a };
  const data: ImageInput = { form: 'data', mediaType: 'image/png', base64: 'QUJD' };

  it.each<[string, Partial<ImageRequest>, object]>([
    ['text', { size: '2k' }, { type: 'image' }],
    [
      'pixels and more',
      { size: '2730x1536', extra: { style: 'manga', user: 'u1', seed: 1 } },
      { type: 'image', aspect_ratio: '16:9', style: 'manga', user_id: 'u1' },
    ],
    ['references', { images: [link, data] }, { type: 'image', image_ref: [{ url: a }, byData] }],
    [
      'an edit',
      { operation: 'edit', images: [data, link] },
      { type: 'image_edit', source: byData, image_ref: [{ url: a }] },
    ],
  ])('of %s', async (_, request, expected) => {
    const upstream = canned({ status: 201, json: fixture('luma/created') });
    expect(imageIssue(imageTask, imageRequest(request), 'uni-1')).toBeUndefined();
    await imageTask.submit(
      imageRequest(request),
      submitContext({ model: 'uni-1', request: upstream.request }),
    );
    expect(upstream.sent[0]?.json).toEqual({ model: 'uni-1', prompt: 'a red cube', ...expected });
  });

  const many = (count: number) => Array.from({ length: count }, () => link);
  it.each<[string, Partial<ImageRequest>, string | undefined]>([
    ['nine references', { images: many(9) }, undefined],
    ['ten references', { images: many(10) }, 'image'],
    ['an edit with eight references', { operation: 'edit', images: many(9) }, undefined],
    ['an edit with nine references', { operation: 'edit', images: many(10) }, 'image'],
    ['a mask', { operation: 'edit', images: [link], mask: link }, 'mask'],
    ['two images', { n: 2 }, 'n'],
    ['fewer pixels', { size: '1024x1024' }, 'size'],
    ['JPEG', { extra: { output_format: 'jpeg', style: 'auto' } }, undefined],
    ['another format', { extra: { output_format: 'webp' } }, 'output_format'],
    ['another style', { extra: { style: 'film' } }, 'style'],
    ['another ratio', { size: '2400x1900' }, 'size'],
  ])('check: %s', (_, request, param) => {
    expect(imageIssue(imageTask, imageRequest(request), 'uni-1')?.param).toBe(param);
  });
});

const statusOf = (answer: CannedAnswer) =>
  video.status({ id }, providerContext({ request: canned(answer).request }));

describe('a job', () => {
  it('that is completed has a link with its end', async () => {
    const upstream = canned({ json: fixture('luma/completed') }, { json: fixture('luma/completed') });
    const context = providerContext({ request: upstream.request });
    const { output } = fixture('luma/completed') as { output: [{ url: string }] };
    const items = [{ url: output[0].url, expiresAt: Date.UTC(2026, 10, 21, 11) / 1000 }];
    expect(await video.status({ id }, context)).toEqual({ state: 'succeeded', items, facts: {} });
    expect(await imageTask.status({ id }, context)).toEqual({
      state: 'succeeded',
      items,
      facts: { images: 1 },
    });
    expect(upstream.sent[0]).toMatchObject({ method: 'GET', url: `${root}/generations/${id}` });
  });

  it.each<[string, CannedAnswer, object]>([
    ['queued', { json: fixture('luma/created') }, { state: 'pending', phase: 'submitted' }],
    ['processing', { json: { id, state: 'processing' } }, { state: 'pending', phase: 'running' }],
    ['a word that is not known', { json: { id, state: 'dreaming' } }, { state: 'pending', phase: 'running' }],
    [
      'failed',
      { json: fixture('luma/failed') },
      {
        state: 'failed',
        code: 'content_moderated',
        message: 'The prompt violated our content guidelines.',
        failure: { class: 'moderation_input' },
      },
    ],
    [
      'failed without a reason',
      { json: { id, state: 'failed', failure_code: null } },
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
    ['an unknown id', { status: 404, json: { detail: 'Generation not found' } }, true, 'unknown_job'],
    ['a 404 of a proxy', { status: 404, text: '<html>' }, false, 'http_404'],
    ['a page', { text: '<html>' }, false, 'unreadable_answer'],
    ['no file', { json: { id, state: 'completed', output: [null] } }, false, 'unreadable_answer'],
    ['no list of files', { json: { id, state: 'completed', output: null } }, false, 'unreadable_answer'],
    ['trouble', { status: 500, json: { detail: 'x' } }, false, 'http_500'],
  ])('reports no state: %s', async (_, answer, ...[gone, code]) => {
    const error = await upstreamError(statusOf(answer));
    expect([error.gone, error.code]).toEqual([gone, code]);
  });
});

describe('a refused create', () => {
  const detail = 'm';
  it.each<[string, CannedAnswer, string, string]>([
    ['a field', { status: 422, json: fixture('luma/refused') }, 'rejected', 'invalid_input'],
    ['the key', { status: 401, json: { detail } }, 'unavailable', 'quota'],
    ['the balance', { status: 402, json: { detail } }, 'unavailable', 'quota'],
    ['its size', { status: 413, json: { detail } }, 'rejected', 'invalid_input'],
    ['a page of 413', { status: 413, text: '<html>' }, 'rejected', 'invalid_input'],
    ['the pace', { status: 429, json: { detail: 'Too many concurrent jobs' } }, 'throttled', 'capacity'],
    ['images that cannot be read now', { status: 503, json: { detail } }, 'throttled', 'capacity'],
    ['trouble', { status: 502, json: { detail } }, 'ambiguous', 'internal'],
    ['a page of 503', { status: 503, text: '<html>' }, 'ambiguous', 'internal'],
    ['a page of 400', { status: 400, text: '<html>' }, 'unavailable', 'quota'],
    ['no id', { status: 201, json: { state: 'queued' } }, 'ambiguous', 'internal'],
  ])('for %s', async (_, answer, ...expected) => {
    const context = submitContext({ request: canned(answer).request });
    const error = await upstreamError(video.submit(videoRequest(), context));
    expect([error.outcome, error.failure.class]).toEqual(expected);
  });
});

describe('against the dialect', () => {
  const simulator = useSimulator({ renderSeconds: 8 });
  const at = (name: string) =>
    submitContext({ request: simulator.request, baseUrl: `${simulator.url}/luma/v1`, model: name });

  it('what the check refuses is refused there, too', async () => {
    const refused = [
      video.submit(videoRequest({ duration: 10, extra: { loop: true } }), at(model)),
      imageTask.submit(imageRequest({ extra: { style: 'film' } }), at('uni-1')),
      imageTask.submit(imageRequest({ extra: { output_format: 'webp' } }), at('uni-1')),
    ];
    const errors = await Promise.all(refused.map(async (call) => upstreamError(call)));
    expect(errors.map(({ failure }) => failure.class)).toEqual(refused.map(() => 'invalid_input'));
  });

  it.each<[string, Partial<VideoRequest>]>([
    ['text', { resolution: '1080p', ratio: '21:9', duration: 10, safetyIdentifier: 'u1' }],
    ['frames of five seconds', { firstFrame: a, lastFrame: b, duration: 5 }],
    ['frames of ten seconds', { firstFrame: a, lastFrame: b, duration: 10 }],
    ['an edit', { ...edit, resolution: '360p' }],
    ['another ratio', { ...reframe, ratio: '1:1' }],
  ])('%s is accepted and rendered', async (_, asked) => {
    const context = at(model);
    const { operation } = await video.submit(videoRequest(asked), context);
    simulator.control.advance(9);
    expect(await video.status(operation, context)).toMatchObject({ state: 'succeeded' });
  });
});
