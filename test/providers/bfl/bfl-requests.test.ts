import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ImageInput, ImageRequest, VideoRequest } from '../../../src/models/request.ts';
import { createBfl } from '../../../src/providers/bfl/index.ts';
import { bflVideoFacts } from '../../../src/providers/bfl/bfl-facts.ts';
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

const bflVideoOwnFields = ['keyframe_seconds', ...(bflVideoFacts.others.reserved ?? [])];

/** What the adapter asks of Black Forest Labs, and what it refuses to ask. */

const { video, imageTask } = createBfl(() => 0);
if (video === undefined || imageTask === undefined) throw new Error('it lacks a part');

const a = 'https://ex.com/a.png';
const clip = 'https://ex.com/a.mp4';
const base = 'https://api.bfl.ai';

async function sentVideo(request: Partial<VideoRequest>) {
  const upstream = canned({ json: fixture('bfl/created') });
  const full = videoRequest(request);
  expect(videoIssue(video, full, 'flux-3-video')).toBeUndefined();
  const context = submitContext({ model: 'flux-3-video', baseUrl: base, request: upstream.request });
  await video?.submit(full, { ...context, callbackUrl: 'https://gateway.example.com/hook' });
  return upstream.sent[0];
}

describe('a video', () => {
  it('goes to the route of its model with the key, and has nothing that was not asked for', async () => {
    expect(await sentVideo({ prompt: 'she waves' })).toMatchObject({
      method: 'POST',
      url: 'https://api.bfl.ai/v1/flux-3-video',
      headers: { 'x-key': 'test-key' },
      json: { mode: 't2v', prompt: 'she waves' },
    });
    expect(Object.keys((await sentVideo({}))?.json ?? {})).toEqual(['prompt', 'mode']);
  });

  const reference = (images: string[], more: Partial<VideoRequest> = {}) =>
    ({ references: images, ...more }) as const;
  it.each<[string, Partial<VideoRequest>, object]>([
    [
      'every setting',
      {
        resolution: '1080p',
        ratio: '9:16',
        duration: 8,
        generateAudio: false,
        safetyIdentifier: 'u1',
        extra: { safety_tolerance: 1, version: 'latest' },
      },
      {
        mode: 't2v',
        resolution: 'fhd',
        aspect_ratio: '9:16',
        duration: 8,
        generate_audio: false,
        user: 'u1',
        safety_tolerance: 1,
        version: 'latest',
      },
    ],
    [
      'what the model chooses',
      { ratio: 'adaptive', duration: 'auto', draft: true },
      { mode: 't2v', aspect_ratio: 'auto', duration: 'auto', draft: true },
    ],
    ['a first frame', { firstFrame: a }, { mode: 'i2v', keyframes: a }],
    [
      'first and last frame, one as data',
      { firstFrame: a, lastFrame: 'data:image/png;base64,QUJD' },
      { mode: 'i2v', keyframes: [a, 'QUJD'] },
    ],
    [
      'images at moments',
      reference([a, a, a], { duration: 8, extra: { keyframe_seconds: [0, 2.5, 8] } }),
      {
        mode: 'i2v',
        duration: 8,
        keyframes: [
          [0, a],
          [2.5, a],
          [8, a],
        ],
      },
    ],
    [
      'a video to continue',
      reference([], { videos: [clip], duration: 15 }),
      { mode: 'v2v', start_video: clip, duration: 15 },
    ],
    ['4k', { resolution: '4K' }, { mode: 't2v', resolution: 'uhd' }],
  ])('with %s', async (_, request, body) => {
    expect((await sentVideo(request))?.json).toEqual({ prompt: 'a fox in the snow', ...body });
  });

  it('lets no field through that the gateway decides', async () => {
    const [names, values] = [
      fc.constantFrom(...bflVideoOwnFields, 'safety_tolerance', 'other'),
      fc.jsonValue(),
    ];
    await fc.assert(
      fc.asyncProperty(fc.dictionary(names, values), async (raw) => {
        const { keyframe_seconds: _, ...extra } = JSON.parse(JSON.stringify(raw));
        const sent = await sentVideo({ duration: 7, extra });
        const passed = Object.entries(extra).filter(([name]) => !bflVideoOwnFields.includes(name));
        const own = { prompt: 'a fox in the snow', mode: 't2v', duration: 7 };
        expect(sent?.json).toEqual({ ...Object.fromEntries(passed), ...own });
      }),
    );
  });

  it.each<[string, Partial<VideoRequest>, string | undefined]>([
    ['sound as input', { audios: [clip] }, 'audios'],
    ['two videos', { videos: [clip, clip] }, 'videos'],
    ['a video and an image', reference([a], { videos: [clip] }), 'images'],
    ['an asset', { firstFrame: 'asset://1' }, 'images'],
    ['two references', reference([a, a]), 'images'],
    ['too few moments', reference([a, a], { extra: { keyframe_seconds: [0] } }), 'metadata.keyframe_seconds'],
    ['moments without images', { extra: { keyframe_seconds: [] } }, 'metadata.keyframe_seconds'],
    [
      'moments out of order',
      reference([a, a], { extra: { keyframe_seconds: [3, 3] } }),
      'metadata.keyframe_seconds',
    ],
    [
      'moments in words',
      reference([a], { extra: { keyframe_seconds: 'first' } }),
      'metadata.keyframe_seconds',
    ],
    [
      'a moment after the end',
      reference([a], { duration: 5, extra: { keyframe_seconds: [6] } }),
      'metadata.keyframe_seconds',
    ],
    ['a moment at the end', reference([a], { duration: 5, extra: { keyframe_seconds: [5] } }), undefined],
    [
      'eleven images',
      reference(
        Array.from({ length: 11 }, () => a),
        { extra: { keyframe_seconds: [0] } },
      ),
      'images',
    ],
    ['480p', { resolution: '480p' }, 'resolution'],
    ['a draft at 1080p', { draft: true, resolution: '1080p' }, 'resolution'],
    ['a draft at 720p', { draft: true, resolution: '720p' }, undefined],
    ['3:2', { ratio: '3:2' }, 'ratio'],
    ['4 s', { duration: 4 }, 'duration'],
    ['5 s', { duration: 5 }, undefined],
    ['20 s', { duration: 20 }, undefined],
    ['21 s', { duration: 21 }, 'duration'],
    ['7.5 s', { duration: 7.5 }, 'duration'],
    ['16 s after a video', reference([], { videos: [clip], duration: 16 }), 'duration'],
    ['a seed', { seed: 1 }, 'metadata.seed'],
    ['a watermark', { watermark: true }, 'metadata.watermark'],
    ['no watermark', { watermark: false }, undefined],
    ['tools', { tools: [] }, 'metadata.tools'],
  ])('check: %s', (_, request, param) => {
    expect(videoIssue(video, videoRequest(request), 'flux-3-video')?.param).toBe(param);
  });

  it('may be as long as the model chooses where no length is named', () => {
    const renders = (request: Partial<VideoRequest>) =>
      videoOutput(video, videoRequest(request), 'flux-3-video');
    expect(renders({})).toEqual({ resolutions: ['720p'], seconds: { min: 5, max: 20 } });
    expect(renders({ resolution: '1080p', videos: [clip], duration: 'auto' })).toEqual({
      seconds: { min: 5, max: 15 },
    });
    expect(renders({ resolution: '4k', duration: 6 })).toEqual({});
  });
});

describe('an image', () => {
  const link: ImageInput = { form: 'url', url: a };
  const data: ImageInput = { form: 'data', mediaType: 'image/png', base64: 'QUJD' };
  const hook = 'https://gateway.example.com/hook';
  const called = { webhook_url: hook, webhook_secret: 's' };

  it.each<[string, Partial<ImageRequest>, object]>([
    [
      'flux-2-pro',
      {
        images: [link, data],
        size: '1024x768',
        extra: { seed: 1, output_format: 'png', quality: 'high', steps: 9 },
      },
      {
        ...called,
        width: 1024,
        height: 768,
        input_image: a,
        input_image_2: 'QUJD',
        seed: 1,
        output_format: 'png',
      },
    ],
    ['flux-2-flex', { extra: { steps: 20, guidance: 3 } }, { ...called, steps: 20, guidance: 3 }],
    [
      'flux-kontext-pro',
      { images: [link], size: '1344x768' },
      { ...called, input_image: a, aspect_ratio: '16:9' },
    ],
    [
      'flux-pro-1.1',
      { images: [link], size: '1440x960' },
      { ...called, image_prompt: a, width: 1440, height: 960 },
    ],
    [
      'flux-pro-1.1-ultra',
      { size: '2048x2048', extra: { raw: true } },
      { ...called, aspect_ratio: '1:1', raw: true },
    ],
    ['flux-pro-1.0-fill', { images: [data], mask: link }, { ...called, image: 'QUJD', mask: a }],
    ['flux-dev', { size: 'auto' }, called],
    [
      'flux-3-image',
      { images: [link, data], size: '1920x1080', extra: { grounding: false } },
      { images: [a, 'QUJD'], resolution: '1.5k', aspect_ratio: '16:9', grounding: false },
    ],
    ['flux-3-image', { size: '4K' }, { resolution: '4k' }],
    ['flux-3-image-klein', { images: [data], size: '768sq' }, { images: ['QUJD'], resolution: '768sq' }],
    [
      'flux-2-max',
      { images: [link, data], extra: { seed: 1 } },
      { ...called, input_image: a, input_image_2: 'QUJD', seed: 1 },
    ],
    ['flux-2-klein-9b', { size: '1024x1024' }, { ...called, width: 1024, height: 1024 }],
  ])('of %s', async (model, request, body) => {
    const upstream = canned({ json: fixture('bfl/created-with-webhook') });
    const full = imageRequest(request);
    expect(imageIssue(imageTask, full, model)).toBeUndefined();
    const context = submitContext({ model, baseUrl: base, request: upstream.request, callbackUrl: hook });
    const credential = { id: 'a', apiKey: 'test-key', callbackSecret: 's' };
    const { operation } = await imageTask.submit(full, { ...context, credential });
    expect(operation).toEqual({ id: '3b5f0c1e-1c5b-4f0e-9a53-5f7c2f6f4a10' });
    expect(upstream.sent[0]).toMatchObject({ url: `https://api.bfl.ai/v1/${model}` });
    expect(upstream.sent[0]?.json).toEqual({ prompt: 'a red cube', ...body });
  });

  const many = (count: number) => ({ images: Array.from({ length: count }, () => link) });
  it.each<[string, Partial<ImageRequest>, string, string | undefined]>([
    ['nine images', many(9), 'flux-2-pro', 'image'],
    ['eight images', many(8), 'flux-2-pro', undefined],
    ['five images of klein', many(5), 'flux-2-klein-4b', 'image'],
    ['two images of Kontext', many(2), 'flux-kontext-max', 'image'],
    ['an image of dev', many(1), 'flux-dev', 'image'],
    ['eleven images of FLUX 3', many(11), 'flux-3-image', 'image'],
    ['eleven images of FLUX 3 klein', many(11), 'flux-3-image-klein', 'image'],
    ['nine images of max', many(9), 'flux-2-max', 'image'],
    ['steps of max', { extra: { steps: 20 } }, 'flux-2-max', undefined],
    ['nothing to fill', {}, 'flux-pro-1.0-fill', 'image'],
    ['a mask', { ...many(1), mask: data }, 'flux-2-pro', 'mask'],
    ['two at a time', { n: 2 }, 'flux-2-pro', 'n'],
    ['a seed of FLUX 3', { extra: { seed: 1 } }, 'flux-3-image', 'seed'],
    ['JPEG of FLUX 3', { extra: { output_format: 'jpeg' } }, 'flux-3-image', 'output_format'],
    ['WebP', { extra: { output_format: 'webp' } }, 'flux-2-pro', 'output_format'],
    ['no multiple of 16', { size: '1000x1000' }, 'flux-2-pro', 'size'],
    ['5 megapixels', { size: '2560x2048' }, 'flux-2-pro', 'size'],
    ['48 pixels', { size: '48x512' }, 'flux-2-pro', 'size'],
    ['no multiple of 32', { size: '1040x1024' }, 'flux-pro-1.1', 'size'],
    ['more than 1440', { size: '1472x1024' }, 'flux-pro-1.1', 'size'],
    ['4 megapixels of Kontext', { size: '2048x2048' }, 'flux-kontext-pro', 'size'],
    ['a ratio that is not sold', { size: '1000x700' }, 'flux-kontext-pro', 'size'],
    ['7:5 of FLUX 3', { size: '1232x880' }, 'flux-3-image', undefined],
    ['3:1 of FLUX 3', { size: '1773x591' }, 'flux-3-image', 'size'],
    ['8 megapixels of FLUX 3', { size: '2896x2896' }, 'flux-3-image', 'size'],
    ['a size of what is filled', { ...many(1), size: '512x512' }, 'flux-pro-1.0-fill', 'size'],
    ['a size in words', { size: 'large' }, 'flux-2-pro', 'size'],
  ])('check: %s', (_, request, model, param) => {
    expect(imageIssue(imageTask, imageRequest(request), model)?.param).toBe(param);
  });
});
