import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defined } from '../../../src/base/defined.ts';
import type { ImageInput, ImageRequest, VideoRequest } from '../../../src/models/request.ts';
import { minimax } from '../../../src/providers/minimax/index.ts';
import { minimaxFacts } from '../../../src/providers/minimax/minimax-models.ts';
import {
  canned,
  fixture,
  imageIssue,
  imageRequest,
  submitContext,
  videoIssue,
  videoOutput,
  videoRequest,
} from '../support.ts';

const { video, image } = minimax;
if (video === undefined || image === undefined) throw new Error('a capability is missing');

const minimaxOwnFields = minimaxFacts.others.reserved ?? [];

const a = 'https://ex.com/a.png';
const b = 'data:image/png;base64,QUJD';
const clip = 'https://ex.com/a.mp4';
const song = 'https://ex.com/a.mp3';
const prompt = 'a fox in the snow';
const frames = (firstFrame: string, lastFrame?: string): Partial<VideoRequest> =>
  defined({ firstFrame, lastFrame });
const references = (images: string[], over: Partial<VideoRequest> = {}): Partial<VideoRequest> => ({
  references: images,
  ...over,
});
const text = { type: 'text', text: prompt };
const item = (type: string, role: string, url: string) => ({ type, [type]: { url }, role });

async function sentFor(request: Partial<VideoRequest>, model: string, callbackUrl?: string) {
  const isV1 = !model.startsWith('MiniMax-H3');
  const upstream = canned({ json: fixture(isV1 ? 'minimax/v1-created' : 'minimax/created') });
  const context = submitContext({ model, request: upstream.request });
  const submitted = await video?.submit(
    videoRequest(request),
    callbackUrl === undefined ? context : { ...context, callbackUrl },
  );
  const [sent] = upstream.sent;
  return { submitted, sent, path: sent?.url.split('/api/v3')[1], json: sent?.json };
}

describe('a video of v2', () => {
  it('says a resolution, a length and a ratio, which are required', async () => {
    const { submitted, sent, path, json } = await sentFor({}, 'MiniMax-H3');
    expect(submitted).toEqual({ operation: { id: '424010985738629' }, traceId: '424010985738629' });
    expect([sent?.method, path]).toEqual(['POST', '/v2/video_generation']);
    expect(sent?.headers).toEqual({ authorization: 'Bearer test-key' });
    expect(json).toEqual({
      model: 'MiniMax-H3',
      content: [text],
      resolution: '768P',
      duration: 5,
      ratio: '16:9',
    });
  });

  it.each<[string, Partial<VideoRequest>, string, object]>([
    [
      'everything',
      { resolution: '2k', ratio: '9:16', duration: 15, watermark: true, generateAudio: true },
      'MiniMax-H3',
      { content: [text], resolution: '2K', ratio: '9:16', duration: 15, aigc_watermark: true },
    ],
    [
      'a first frame, which brings its ratio',
      { ...frames(b), ratio: '1:1' },
      'MiniMax-H3',
      { content: [text, item('image_url', 'first_frame', b)], resolution: '768P', duration: 5 },
    ],
    [
      'both frames',
      frames(a, b),
      'MiniMax-H3-Max',
      {
        content: [text, item('image_url', 'first_frame', a), item('image_url', 'last_frame', b)],
        resolution: '768P',
        duration: 5,
      },
    ],
    [
      'references of each kind',
      references([a], { videos: [clip], audios: [song] }),
      'MiniMax-H3',
      {
        content: [
          text,
          item('image_url', 'reference_image', a),
          item('video_url', 'reference_video', clip),
          item('audio_url', 'reference_audio', song),
        ],
        resolution: '768P',
        duration: 5,
      },
    ],
    [
      'references in a ratio',
      references([a], { ratio: 'adaptive', extra: { extra: { prompt_expansion_mode: 'quality' } } }),
      'MiniMax-H3-Max',
      {
        content: [text, item('image_url', 'reference_image', a)],
        resolution: '768P',
        duration: 5,
        ratio: 'adaptive',
        extra: { prompt_expansion_mode: 'quality' },
      },
    ],
  ])('%s', async (_, request, model, expected) => {
    expect(videoIssue(video, videoRequest(request), model)).toBeUndefined();
    expect((await sentFor(request, model)).json).toEqual({ model, ...expected });
  });
});

describe('a video of v1', () => {
  it.each<[string, Partial<VideoRequest>, string, object]>([
    ['text', {}, 'MiniMax-Hailuo-2.3', { prompt }],
    [
      'text with everything',
      { resolution: '1080p', duration: 6, extra: { prompt_optimizer: false } },
      'MiniMax-Hailuo-2.3',
      { prompt, resolution: '1080P', duration: 6, prompt_optimizer: false },
    ],
    [
      'a frame without words',
      { ...frames(b), prompt: '', resolution: '768P', duration: 10 },
      'MiniMax-Hailuo-2.3-Fast',
      { first_frame_image: b, resolution: '768P', duration: 10 },
    ],
    [
      'both frames',
      { ...frames(a, b), resolution: '512p' },
      'MiniMax-Hailuo-02',
      { prompt, first_frame_image: a, last_frame_image: b, resolution: '512P' },
    ],
    ['the first series', frames(a), 'I2V-01-live', { prompt, first_frame_image: a }],
    [
      'a subject, which accepts neither length nor resolution',
      references([a], { duration: 6, resolution: '720p' }),
      'S2V-01',
      { prompt, subject_reference: [{ type: 'character', image: [a] }] },
    ],
  ])('%s', async (_, request, model, expected) => {
    expect(videoIssue(video, videoRequest(request), model)).toBeUndefined();
    const { submitted, path, json } = await sentFor(request, model);
    expect(submitted?.operation).toEqual({ id: '106916112212032', version: '1' });
    expect([path, json]).toEqual(['/v1/video_generation', { model, ...expected }]);
  });
});

it.each(['MiniMax-H3', 'MiniMax-Hailuo-02'])('%s is given our address for callbacks only', async (model) => {
  const own = 'https://gw.example/cb/x';
  const { json } = await sentFor({ extra: { callback_url: 'https://evil.example' } }, model, own);
  expect(json).toMatchObject({ callback_url: own });
  const without = await sentFor({ extra: { callback_url: 'https://evil.example' } }, model);
  expect(without.json).not.toHaveProperty('callback_url');
});

it('metadata never reaches a field that the gateway decides', async () => {
  const names = fc.oneof(fc.constantFrom(...minimaxOwnFields), fc.string({ minLength: 1, maxLength: 12 }));
  const models = fc.constantFrom('MiniMax-H3', 'MiniMax-Hailuo-2.3', 'S2V-01');
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(names, fc.jsonValue(), { noNullPrototype: true }),
      models,
      async (metadata, model) => {
        const extra = JSON.parse(JSON.stringify(metadata));
        const plain = (await sentFor(references([a]), model)).json ?? {};
        const { json = {} } = await sentFor(references([a], { extra }), model);
        for (const name of minimaxOwnFields) expect(json[name]).toEqual(plain[name]);
        for (const name of Object.keys(extra)) {
          if (!minimaxOwnFields.includes(name)) expect(json[name]).toEqual(extra[name]);
        }
      },
    ),
    { numRuns: 100 },
  );
});

const many = (count: number) => Array.from({ length: count }, () => a);

describe('check', () => {
  it.each<[string, Partial<VideoRequest>, string, string | undefined]>([
    ['no prompt', { prompt: ' ' }, 'MiniMax-H3', 'prompt'],
    ['a long prompt', { prompt: 'x'.repeat(7001) }, 'MiniMax-H3', 'prompt'],
    ['a prompt at its limit', { prompt: 'x'.repeat(7000) }, 'MiniMax-H3', undefined],
    ['a long prompt of v1', { prompt: 'x'.repeat(2001) }, 'MiniMax-Hailuo-02', 'prompt'],
    ['a draft', { draft: true }, 'MiniMax-H3', 'metadata.draft'],
    ['tools', { tools: [] }, 'MiniMax-H3', 'metadata.tools'],
    ['a seed', { seed: 1 }, 'MiniMax-H3', 'metadata.seed'],
    ['silence of H3', { generateAudio: false }, 'MiniMax-H3', 'metadata.generate_audio'],
    ['sound of v1', { generateAudio: true }, 'MiniMax-Hailuo-02', 'metadata.generate_audio'],
    ['silence of v1', { generateAudio: false }, 'MiniMax-Hailuo-02', undefined],
    ['a watermark of v1', { watermark: true }, 'MiniMax-Hailuo-02', 'metadata.watermark'],
    ['an asset', references(['asset://1']), 'MiniMax-H3', 'images[0]'],
    ['nine images', references(many(9)), 'MiniMax-H3', undefined],
    ['ten images', references(many(10)), 'MiniMax-H3', 'images'],
    ['four videos', references([], { videos: many(4) }), 'MiniMax-H3', 'videos'],
    ['four audios', references([a], { audios: many(4) }), 'MiniMax-H3', 'audios'],
    ['audio alone', references([], { audios: [song] }), 'MiniMax-H3', 'audios'],
    ['13 files', references(many(8), { videos: many(3), audios: many(2) }), 'MiniMax-H3', 'images'],
    ['12 files', references(many(7), { videos: many(3), audios: many(2) }), 'MiniMax-H3', undefined],
    ['frames and a video', { ...frames(a), videos: [clip] }, 'MiniMax-H3', 'videos'],
    ['a video of v1', { ...frames(a), videos: [clip] }, 'MiniMax-Hailuo-02', 'videos'],
    ['audio of v1', { ...frames(a), audios: [song] }, 'MiniMax-Hailuo-02', 'audios'],
    ['two frames of 2.3', frames(a, b), 'MiniMax-Hailuo-2.3', 'images'],
    ['two references of 02', references([a, b]), 'MiniMax-Hailuo-02', 'images'],
    ['an image for text', references([a]), 'T2V-01-Director', 'images'],
    ['no image', {}, 'MiniMax-Hailuo-2.3-Fast', 'images'],
    ['no subject', {}, 'S2V-01', 'images'],
    ['nothing', { prompt: '' }, 'MiniMax-Hailuo-2.3', 'prompt'],
    ['1080p of H3', { resolution: '1080p' }, 'MiniMax-H3', 'resolution'],
    ['2K of Max', { resolution: '2K' }, 'MiniMax-H3-Max', 'resolution'],
    ['480p of Max', { resolution: '480p' }, 'MiniMax-H3-Max', undefined],
    ['512P of text', { resolution: '512P' }, 'MiniMax-Hailuo-02', 'resolution'],
    ['512P of 2.3', { ...frames(a), resolution: '512P' }, 'MiniMax-Hailuo-2.3', 'resolution'],
    ['3 s', { duration: 3 }, 'MiniMax-H3', 'duration'],
    ['4 s of Max', { duration: 4 }, 'MiniMax-H3-Max', 'duration'],
    ['4 s', { duration: 4 }, 'MiniMax-H3', undefined],
    ['a length of its choice', { duration: 'auto' }, 'MiniMax-H3', 'duration'],
    ['7 s of v1', { duration: 7 }, 'MiniMax-Hailuo-2.3', 'duration'],
    ['10 s at 1080p', { duration: 10, resolution: '1080p' }, 'MiniMax-Hailuo-2.3', 'duration'],
    ['10 s at 768p', { duration: 10, resolution: '768p' }, 'MiniMax-Hailuo-2.3', undefined],
    ['10 s of the first series', { duration: 10 }, 'T2V-01', 'duration'],
    ['adaptive text', { ratio: 'adaptive' }, 'MiniMax-H3', 'ratio'],
    ['adaptive references', references([a], { ratio: 'adaptive' }), 'MiniMax-H3', undefined],
    ['2:3', references([a], { ratio: '2:3' }), 'MiniMax-H3', 'ratio'],
    ['any ratio of frames', { ...frames(a), ratio: '2:3' }, 'MiniMax-H3', undefined],
    ['9:16 of v1', { ratio: '9:16' }, 'MiniMax-Hailuo-2.3', 'ratio'],
    ['16:9 of v1', { ratio: '16:9' }, 'MiniMax-Hailuo-2.3', undefined],
    ['a ratio beside an image of v1', { ...frames(a), ratio: '9:16' }, 'MiniMax-Hailuo-2.3', undefined],
  ])('%s', (_, request, model, param) => {
    expect(videoIssue(video, videoRequest(request), model)?.param).toBe(param);
  });
});

it.each<[string, Partial<VideoRequest>, string, object]>([
  ['v2 names what to render', {}, 'MiniMax-H3-Max', { resolutions: ['768p'], seconds: { min: 5, max: 5 } }],
  ['v1 chooses', {}, 'MiniMax-Hailuo-2.3', { resolutions: ['768p', '1080p'], seconds: { min: 6, max: 10 } }],
  ['what is said is said', { resolution: '2k', duration: 5 }, 'MiniMax-H3', {}],
])('%s', (_, request, model, expected) => {
  expect(videoOutput(video, videoRequest(request), model)).toEqual(expected);
});

describe('an image', () => {
  const link: ImageInput = { form: 'url', url: a };
  const data: ImageInput = { form: 'data', mediaType: 'image/png', base64: 'QUJD' };

  it.each<[string, Partial<ImageRequest>, object]>([
    ['of text', {}, { n: 1 }],
    [
      'in pixels, with a seed',
      { n: 9, size: '1280x720', responseFormat: 'b64_json', extra: { seed: 1, style: 'x' } },
      { n: 9, width: 1280, height: 720, response_format: 'base64', seed: 1 },
    ],
    [
      'in a ratio, of a character',
      { size: '21:9', images: [data], responseFormat: 'url' },
      {
        n: 1,
        aspect_ratio: '21:9',
        response_format: 'url',
        subject_reference: [{ type: 'character', image_file: b }],
      },
    ],
  ])('%s', async (_, request, expected) => {
    const upstream = canned({ json: fixture('minimax/images') });
    expect(imageIssue(image, imageRequest(request), 'image-01')).toBeUndefined();
    await image.generate(
      imageRequest(request),
      submitContext({ model: 'image-01', request: upstream.request }),
    );
    expect(upstream.sent[0]?.url).toBe('https://upstream.example/api/v3/v1/image_generation');
    expect(upstream.sent[0]?.json).toEqual({ model: 'image-01', prompt: 'a red cube', ...expected });
  });

  it.each<[string, Partial<ImageRequest>, string | undefined]>([
    ['a long prompt', { prompt: 'x'.repeat(1501) }, 'prompt'],
    ['two images', { images: [link, link] }, 'image'],
    ['a mask', { images: [link], mask: data }, 'mask'],
    ['pixels between', { size: '1281x720' }, 'size'],
    ['few pixels', { size: '504x512' }, 'size'],
    ['many pixels', { size: '2056x2048' }, 'size'],
    ['2048x2048', { size: '2048x2048' }, undefined],
    ['a word', { size: '2K' }, 'size'],
    ['5:4', { size: '5:4' }, 'size'],
  ])('check: %s', (_, request, param) => {
    expect(imageIssue(image, imageRequest(request), 'image-01')?.param).toBe(param);
  });
});

describe('an image of H3', () => {
  const link: ImageInput = { form: 'url', url: a };
  const data: ImageInput = { form: 'data', mediaType: 'image/png', base64: 'QUJD' };
  const model = 'MiniMax-H3-Image-Highspeed';

  it.each<[string, Partial<ImageRequest>, 'generations' | 'edits', object]>([
    ['of text', {}, 'generations', { n: 1 }],
    [
      'in pixels, as base64',
      { n: 10, size: '2720x1536', responseFormat: 'b64_json', extra: { output_format: 'webp', seed: 1 } },
      'generations',
      { n: 10, size: '2720x1536', response_format: 'b64_json', output_format: 'webp' },
    ],
    [
      'of an area and a ratio, from references',
      { size: '2k', images: [link, data], extra: { aspect_ratio: '21:9' } },
      'edits',
      { n: 1, area: '2K', aspect_ratio: '21:9', images: [{ image_url: a }, { image_url: b }] },
    ],
  ])('%s', async (_, request, path, expected) => {
    const upstream = canned({ json: fixture('minimax/h3-images') });
    expect(imageIssue(image, imageRequest(request), model)).toBeUndefined();
    const context = submitContext({ model, request: upstream.request });
    const { images, facts } = await image.generate(imageRequest(request), context);
    expect(upstream.sent[0]?.url).toBe(`https://upstream.example/api/v3/v1/images/${path}`);
    expect(upstream.sent[0]?.json).toEqual({ model, prompt: 'a red cube', ...expected });
    expect(images).toEqual([{ url: 'https://file.example.com/a.jpeg', expiresAt: 1794300000 + 86400 }]);
    expect(facts).toMatchObject({ images: 1, usage: { completionTokens: 4096, inputImageTokens: 1024 } });
  });

  it.each<[string, Partial<ImageRequest>, string | undefined]>([
    ['16 images', { images: Array.from({ length: 16 }, () => link) }, undefined],
    ['17 images', { images: Array.from({ length: 17 }, () => link) }, 'image'],
    ['a mask', { images: [link], mask: data }, 'mask'],
    ['few pixels', { size: '512x512' }, 'size'],
    ['a long side', { size: '3000x900' }, 'size'],
    ['pixels and a ratio', { size: '2720x1536', extra: { aspect_ratio: '16:9' } }, 'aspect_ratio'],
    ['another format', { extra: { output_format: 'gif' } }, 'output_format'],
    ['a long prompt', { prompt: 'x'.repeat(32_001) }, 'prompt'],
  ])('check: %s', (_, request, param) => {
    expect(imageIssue(image, imageRequest(request), model)?.param).toBe(param);
  });
});
