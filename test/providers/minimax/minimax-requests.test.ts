import { describe, expect, it } from 'vitest';
import { defined } from '../../../src/base/defined.ts';
import type { ImageInput, VideoRequest } from '../../../src/models/request.ts';
import { minimax } from '../../../src/providers/minimax/index.ts';
import { fixture } from '../support.ts';
import { imageTables, videoTables } from '../vendor-tables.ts';

const { video, image } = minimax;
if (video === undefined || image === undefined) throw new Error('a capability is missing');

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
const link: ImageInput = { form: 'url', url: a };
const data: ImageInput = { form: 'data', mediaType: 'image/png', base64: 'QUJD' };
const text = { type: 'text', text: prompt };
const item = (type: string, role: string, url: string) => ({ type, [type]: { url }, role });

const videos = videoTables(video, {
  created: (model) => ({
    json: fixture(model.startsWith('MiniMax-H3') ? 'minimax/created' : 'minimax/v1-created'),
  }),
});
const images = imageTables(image, { model: 'image-01', created: { json: fixture('minimax/images') } });

describe('a video of v2', () => {
  it('contains a resolution, a length and a ratio, which are required', async () => {
    const { submitted, sent, path, json } = await videos.sentFor({}, 'MiniMax-H3');
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

  videos.sends([
    ['everything', { resolution: '2k', ratio: '9:16', duration: 15, watermark: true, generateAudio: true }, 'MiniMax-H3',
      { content: [text], resolution: '2K', ratio: '9:16', duration: 15, aigc_watermark: true }],
    ['a first frame, which brings its ratio', { ...frames(b), ratio: '1:1' }, 'MiniMax-H3',
      { content: [text, item('image_url', 'first_frame', b)], resolution: '768P', duration: 5 }],
    ['both frames', frames(a, b), 'MiniMax-H3-Max',
      { content: [text, item('image_url', 'first_frame', a), item('image_url', 'last_frame', b)], resolution: '768P', duration: 5 }],
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
    ['references in a ratio', references([a], { ratio: 'adaptive', extra: { extra: { prompt_expansion_mode: 'quality' } } }), 'MiniMax-H3-Max',
      { content: [text, item('image_url', 'reference_image', a)], resolution: '768P', duration: 5, ratio: 'adaptive', extra: { prompt_expansion_mode: 'quality' } }],
  ], (model) => ({ model })); // prettier-ignore
});

describe('a video of v1', () => {
  it('has its own path and operation', async () => {
    const { submitted, path } = await videos.sentFor({}, 'MiniMax-Hailuo-2.3');
    expect(submitted).toMatchObject({ operation: { id: '106916112212032', version: '1' } });
    expect(path).toBe('/v1/video_generation');
  });

  videos.sends([
    ['text', {}, 'MiniMax-Hailuo-2.3', { prompt }],
    ['text with everything', { resolution: '1080p', duration: 6, extra: { prompt_optimizer: false } }, 'MiniMax-Hailuo-2.3',
      { prompt, resolution: '1080P', duration: 6, prompt_optimizer: false }],
    ['a frame without words', { ...frames(b), prompt: '', resolution: '768P', duration: 10 }, 'MiniMax-Hailuo-2.3-Fast',
      { first_frame_image: b, resolution: '768P', duration: 10 }],
    ['both frames', { ...frames(a, b), resolution: '512p' }, 'MiniMax-Hailuo-02', { prompt, first_frame_image: a, last_frame_image: b, resolution: '512P' }],
    ['the first series', frames(a), 'I2V-01-live', { prompt, first_frame_image: a }],
    ['a subject, which accepts neither length nor resolution', references([a], { duration: 6, resolution: '720p' }), 'S2V-01',
      { prompt, subject_reference: [{ type: 'character', image: [a] }] }],
  ], (model) => ({ model })); // prettier-ignore
});

const many = (count: number) => Array.from({ length: count }, () => a);

describe('check', () => {
  videos.checks([
    ['no prompt', { prompt: ' ' }, 'MiniMax-H3', 'prompt'],
    ['a long prompt', { prompt: 'x'.repeat(7001) }, 'MiniMax-H3', 'prompt'],
    ['a prompt at its limit', { prompt: 'x'.repeat(7000) }, 'MiniMax-H3', undefined],
    ['a long prompt of v1', { prompt: 'x'.repeat(2001) }, 'MiniMax-Hailuo-02', 'prompt'],
    ['an asset', references(['asset://1']), 'MiniMax-H3', 'images[0]'],
    ['audio alone', references([], { audios: [song] }), 'MiniMax-H3', 'audios'],
    ['13 files', references(many(8), { videos: many(3), audios: many(2) }), 'MiniMax-H3', 'images'],
    ['12 files', references(many(7), { videos: many(3), audios: many(2) }), 'MiniMax-H3', undefined],
    ['no image', {}, 'MiniMax-Hailuo-2.3-Fast', 'images'],
    ['no subject', {}, 'S2V-01', 'images'],
    ['nothing', { prompt: '' }, 'MiniMax-Hailuo-2.3', 'prompt'],
    ['1080p of H3', { resolution: '1080p' }, 'MiniMax-H3', 'resolution'],
    ['512P of text', { resolution: '512P' }, 'MiniMax-Hailuo-02', 'resolution'],
    ['4 s of Max', { duration: 4 }, 'MiniMax-H3-Max', 'duration'],
    ['10 s at 1080p', { duration: 10, resolution: '1080p' }, 'MiniMax-Hailuo-2.3', 'duration'],
    ['10 s at 768p', { duration: 10, resolution: '768p' }, 'MiniMax-Hailuo-2.3', undefined],
    ['10 s of the first series', { duration: 10 }, 'T2V-01', 'duration'],
    ['adaptive text', { ratio: 'adaptive' }, 'MiniMax-H3', 'ratio'],
    ['adaptive references', references([a], { ratio: 'adaptive' }), 'MiniMax-H3', undefined],
    ['any ratio of frames', { ...frames(a), ratio: '2:3' }, 'MiniMax-H3', undefined],
    ['9:16 of v1', { ratio: '9:16' }, 'MiniMax-Hailuo-2.3', 'ratio'],
    ['a ratio beside an image of v1', { ...frames(a), ratio: '9:16' }, 'MiniMax-Hailuo-2.3', undefined],
  ]);
});

videos.renders([
  ['v2 names what to render', {}, 'MiniMax-H3-Max', { resolutions: ['768p'], seconds: { min: 5, max: 5 } }],
  ['v1 chooses', {}, 'MiniMax-Hailuo-2.3', { resolutions: ['768p', '1080p'], seconds: { min: 6, max: 10 } }],
  ['what is said is said', { resolution: '2k', duration: 5 }, 'MiniMax-H3', {}],
]);

describe('an image', () => {
  it('has its own path', async () => {
    expect((await images.sentFor({})).path).toBe('/v1/image_generation');
  });

  images.sends([
    ['of text', {}, { n: 1 }],
    ['in pixels, with a seed', { n: 9, size: '1280x720', responseFormat: 'b64_json', extra: { seed: 1, style: 'x' } },
      { n: 9, width: 1280, height: 720, response_format: 'base64', seed: 1 }],
    ['in a ratio, of a character', { size: '21:9', images: [data], responseFormat: 'url' },
      { n: 1, aspect_ratio: '21:9', response_format: 'url', subject_reference: [{ type: 'character', image_file: b }] }],
  ], (model) => ({ model, prompt: 'a red cube' })); // prettier-ignore

  images.checks([
    ['a long prompt', { prompt: 'x'.repeat(1501) }, 'prompt'],
    ['two images', { images: [link, link] }, 'image'],
    ['a mask', { images: [link], mask: data }, 'mask'],
    ['pixels between', { size: '1281x720' }, 'size'],
    ['few pixels', { size: '504x512' }, 'size'],
    ['many pixels', { size: '2056x2048' }, 'size'],
    ['2048x2048', { size: '2048x2048' }, undefined],
  ]);
});

describe('an image of H3', () => {
  const model = 'MiniMax-H3-Image-Highspeed';
  const h3 = imageTables(image, { model, created: { json: fixture('minimax/h3-images') } });

  h3.sends([
    ['of text', {}, model, 'generations', { n: 1 }],
    ['in pixels, as base64', { n: 10, size: '2720x1536', responseFormat: 'b64_json', extra: { output_format: 'webp', seed: 1 } },
      model, 'generations', { n: 10, size: '2720x1536', response_format: 'b64_json', output_format: 'webp' }],
    ['of an area and a ratio, from references', { size: '2k', images: [link, data], extra: { aspect_ratio: '21:9' } }, model, 'edits',
      { n: 1, area: '2K', aspect_ratio: '21:9', images: [{ image_url: a }, { image_url: b }] }],
  ], () => ({ model, prompt: 'a red cube' }), '/v1/images/'); // prettier-ignore

  it('has a URL that is valid for a day, and its tokens', async () => {
    const { submitted } = await h3.sentFor({});
    expect(submitted).toMatchObject({
      images: [{ url: 'https://file.example.com/a.jpeg', expiresAt: 1794300000 + 86400 }],
      facts: { images: 1, usage: { completionTokens: 4096, inputImageTokens: 1024 } },
    });
  });

  h3.checks([
    ['16 images', { images: Array.from({ length: 16 }, () => link) }, undefined],
    ['17 images', { images: Array.from({ length: 17 }, () => link) }, 'image'],
    ['a mask', { images: [link], mask: data }, 'mask'],
    ['few pixels', { size: '512x512' }, 'size'],
    ['a long side', { size: '3000x900' }, 'size'],
    ['pixels and a ratio', { size: '2720x1536', extra: { aspect_ratio: '16:9' } }, 'aspect_ratio'],
    ['another format', { extra: { output_format: 'gif' } }, 'output_format'],
    ['a long prompt', { prompt: 'x'.repeat(32_001) }, 'prompt'],
  ]);
});
