import { describe, expect, it } from 'vitest';
import type { ImageInput, VideoRequest } from '../../../src/models/request.ts';
import { createBfl } from '../../../src/providers/bfl/index.ts';
import { fixture, videoOutput, videoRequest } from '../support.ts';
import { imageTables, videoTables } from '../vendor-tables.ts';

const { video, imageTask } = createBfl(() => 0);
if (video === undefined || imageTask === undefined) throw new Error('it lacks a part');

const a = 'https://ex.com/a.png';
const clip = 'https://ex.com/a.mp4';
const base = 'https://api.bfl.ai';

const hook = 'https://gateway.example.com/hook';
const credential = { id: 'a', apiKey: 'test-key', callbackSecret: 's' };
const context = { baseUrl: base, callbackUrl: hook, credential };
const videos = videoTables(video, {
  model: 'flux-3-video',
  created: { json: fixture('bfl/created') },
  context,
});
const images = imageTables(imageTask, { created: { json: fixture('bfl/created-with-webhook') }, context });

describe('a video', () => {
  it('uses the route of its model with the key, and only the requested fields', async () => {
    expect((await videos.sentFor({ prompt: 'she waves' })).sent).toMatchObject({
      method: 'POST',
      url: 'https://api.bfl.ai/v1/flux-3-video',
      headers: { 'x-key': 'test-key' },
      json: { mode: 't2v', prompt: 'she waves' },
    });
    expect(Object.keys((await videos.sentFor({})).json ?? {})).toEqual(['prompt', 'mode']);
  });

  const reference = (images: string[], more: Partial<VideoRequest> = {}) =>
    ({ references: images, ...more }) as const;
  videos.sends([
    ['every setting',
      { resolution: '1080p', ratio: '9:16', duration: 8, generateAudio: false, safetyIdentifier: 'u1', extra: { safety_tolerance: 1, version: 'latest' } },
      { mode: 't2v', resolution: 'fhd', aspect_ratio: '9:16', duration: 8, generate_audio: false, user: 'u1', safety_tolerance: 1, version: 'latest' }],
    ['what the model chooses', { ratio: 'adaptive', duration: 'auto', draft: true }, { mode: 't2v', aspect_ratio: 'auto', duration: 'auto', draft: true }],
    ['a first frame', { firstFrame: a }, { mode: 'i2v', keyframes: a }],
    ['first and last frame, one as data', { firstFrame: a, lastFrame: 'data:image/png;base64,QUJD' }, { mode: 'i2v', keyframes: [a, 'QUJD'] }],
    ['images at moments', reference([a, a, a], { duration: 8, extra: { keyframe_seconds: [0, 2.5, 8] } }),
      { mode: 'i2v', duration: 8, keyframes: [[0, a], [2.5, a], [8, a]] }],
    ['a video to continue', reference([], { videos: [clip], duration: 15 }), { mode: 'v2v', start_video: clip, duration: 15 }],
    ['4k', { resolution: '4K' }, { mode: 't2v', resolution: 'uhd' }],
  ], () => ({ prompt: 'a fox in the snow' })); // prettier-ignore

  videos.checks([
    ['a video and an image', reference([a], { videos: [clip] }), 'images'],
    ['an asset', { firstFrame: 'asset://1' }, 'images'],
    ['two references', reference([a, a]), 'images'],
    ['too few moments', reference([a, a], { extra: { keyframe_seconds: [0] } }), 'metadata.keyframe_seconds'],
    ['moments without images', { extra: { keyframe_seconds: [] } }, 'metadata.keyframe_seconds'],
    ['moments out of order', reference([a, a], { extra: { keyframe_seconds: [3, 3] } }), 'metadata.keyframe_seconds'],
    ['a moment after the end', reference([a], { duration: 5, extra: { keyframe_seconds: [6] } }), 'metadata.keyframe_seconds'],
    ['a moment at the end', reference([a], { duration: 5, extra: { keyframe_seconds: [5] } }), undefined],
    ['eleven images', reference(Array.from({ length: 11 }, () => a), { extra: { keyframe_seconds: [0] } }), 'images'],
    ['a draft at 1080p', { draft: true, resolution: '1080p' }, 'resolution'],
    ['a draft at 720p', { draft: true, resolution: '720p' }, undefined],
    ['3:2', { ratio: '3:2' }, 'ratio'],
    ['16 s after a video', reference([], { videos: [clip], duration: 16 }), 'duration'],
  ]); // prettier-ignore

  it('may be as long as the model chooses if no length is requested', () => {
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
  const called = { webhook_url: hook, webhook_secret: 's' };

  images.sends([
    ['flux-2-pro', { images: [link, data], size: '1024x768', extra: { seed: 1, output_format: 'png', quality: 'high', steps: 9 } }, 'flux-2-pro',
      { ...called, width: 1024, height: 768, input_image: a, input_image_2: 'QUJD', seed: 1, output_format: 'png' }],
    ['flux-2-flex', { extra: { steps: 20, guidance: 3 } }, 'flux-2-flex', { ...called, steps: 20, guidance: 3 }],
    ['flux-kontext-pro', { images: [link], size: '1344x768' }, 'flux-kontext-pro', { ...called, input_image: a, aspect_ratio: '16:9' }],
    ['flux-pro-1.1', { images: [link], size: '1440x960' }, 'flux-pro-1.1', { ...called, image_prompt: a, width: 1440, height: 960 }],
    ['flux-pro-1.1-ultra', { size: '2048x2048', extra: { raw: true } }, 'flux-pro-1.1-ultra', { ...called, aspect_ratio: '1:1', raw: true }],
    ['flux-pro-1.0-fill', { images: [data], mask: link }, 'flux-pro-1.0-fill', { ...called, image: 'QUJD', mask: a }],
    ['flux-dev', { size: 'auto' }, 'flux-dev', called],
    ['flux-3-image', { images: [link, data], size: '1920x1080', extra: { grounding: false } }, 'flux-3-image',
      { images: [a, 'QUJD'], resolution: '1.5k', aspect_ratio: '16:9', grounding: false }],
    ['flux-3-image', { size: '4K' }, 'flux-3-image', { resolution: '4k' }],
    ['flux-3-image-klein', { images: [data], size: '768sq' }, 'flux-3-image-klein', { images: ['QUJD'], resolution: '768sq' }],
    ['flux-2-max', { images: [link, data], extra: { seed: 1 } }, 'flux-2-max', { ...called, input_image: a, input_image_2: 'QUJD', seed: 1 }],
    ['flux-2-klein-9b', { size: '1024x1024' }, 'flux-2-klein-9b', { ...called, width: 1024, height: 1024 }],
  ], () => ({ prompt: 'a red cube' })); // prettier-ignore

  it.each(['flux-2-pro', 'flux-kontext-pro', 'flux-pro-1.1', 'flux-dev', 'flux-3-image'])(
    'of %s has a path of its model',
    async (model) => {
      const { submitted, path } = await images.sentFor({}, model);
      expect(submitted).toMatchObject({ operation: { id: '3b5f0c1e-1c5b-4f0e-9a53-5f7c2f6f4a10' } });
      expect(path).toBe(`/v1/${model}`);
    },
  );

  const many = (count: number) => ({ images: Array.from({ length: count }, () => link) });
  images.checks([
    ['nine images', many(9), 'flux-2-pro', 'image'],
    ['eight images', many(8), 'flux-2-pro', undefined],
    ['five images of klein', many(5), 'flux-2-klein-4b', 'image'],
    ['two images of Kontext', many(2), 'flux-kontext-max', 'image'],
    ['an image of dev', many(1), 'flux-dev', 'image'],
    ['eleven images of FLUX 3', many(11), 'flux-3-image', 'image'],
    ['eleven images of FLUX 3 klein', many(11), 'flux-3-image-klein', 'image'],
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
    ['7:5 of FLUX 3', { size: '1232x880' }, 'flux-3-image', undefined],
    ['3:1 of FLUX 3', { size: '1773x591' }, 'flux-3-image', 'size'],
    ['a size of what is filled', { ...many(1), size: '512x512' }, 'flux-pro-1.0-fill', 'size'],
  ]);
});
