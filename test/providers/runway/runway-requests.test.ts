import { describe, expect, it } from 'vitest';
import type { VideoRequest } from '../../../src/models/request.ts';
import { runway } from '../../../src/providers/runway/index.ts';
import { fixture } from '../support.ts';
import { imageTables, videoTables } from '../vendor-tables.ts';

const { video, imageTask } = runway;
if (video === undefined || imageTask === undefined) throw new Error('a capability is missing');

const a = 'https://ex.com/a.png';
const b = 'https://ex.com/b.png';
const clip = 'https://ex.com/a.mp4';
const song = 'https://ex.com/a.mp3';
const promptText = 'a fox in the snow';
const one: Partial<VideoRequest> = { firstFrame: a };
const two: Partial<VideoRequest> = { firstFrame: a, lastFrame: b };
const edit: Partial<VideoRequest> = { videos: [clip], extra: { video_task: 'edit' } };
const extend: Partial<VideoRequest> = { videos: [clip], extra: { video_task: 'extend' } };
const first = [{ uri: a, position: 'first' }];

const usual = {
  created: { json: fixture('runway/created') },
  context: { callbackUrl: 'https://gw.example/cb' },
};
const videos = videoTables(video, usual);
const images = imageTables(imageTask, usual);

describe('a video', () => {
  it('is created with the version header that every call needs', async () => {
    const { submitted, sent } = await videos.sentFor({ ratio: '16:9', duration: 5 }, 'gen4.5');
    const id = '17f20503-6c24-4c16-946b-35dbbce2af2f';
    expect(submitted).toEqual({ operation: { id }, traceId: id });
    expect(sent).toMatchObject({
      method: 'POST',
      headers: { authorization: 'Bearer test-key', 'x-runway-version': '2024-11-06' },
    });
  });

  it.each([
    ['veo3.1', undefined, 'true'],
    ['veo3.1', true, 'true'],
    ['veo3.1', false, 'false'],
    ['veo3', undefined, undefined],
  ])('of %s with sound %s remembers %s', async (model, generateAudio, sound) => {
    const { submitted } = await videos.sentFor(generateAudio === undefined ? {} : { generateAudio }, model);
    expect(submitted).toEqual({ operation: { id: expect.any(String), sound }, traceId: expect.any(String) });
  });

  videos.sends([
    ['text', { ratio: '9:16', duration: 7, seed: 3 }, 'gen4.5', 'text_to_video', { promptText, ratio: '720:1280', duration: 7, seed: 3 }],
    ['text about which nothing is said', {}, 'gen4.5', 'text_to_video', { promptText, ratio: '1280:720', duration: 5 }],
    ['the one length of a model', {}, 'veo3', 'text_to_video', { promptText, ratio: '1280:720', duration: 8 }],
    ['a ratio that the model demands', {}, 'veo3.1', 'text_to_video', { promptText, ratio: '1280:720' }],
    ['nothing that the model does not demand', {}, 'seedance2', 'text_to_video', { promptText }],
    ['sound', { resolution: '1080P', ratio: '16:9', generateAudio: false }, 'veo3.1_fast', 'text_to_video', { promptText, ratio: '1920:1080', audio: false }],
    ['a ratio alone', { ratio: '1:1' }, 'seedance2', 'text_to_video', { promptText, ratio: '960:960' }],
    ['the largest', { resolution: '4k', ratio: '21:9' }, 'seedance2', 'text_to_video', { promptText, ratio: '3840:1646' }],
    ['a first frame', { ...one, ratio: '3:4', duration: 2 }, 'gen4.5', 'image_to_video', { promptText, promptImage: first, ratio: '832:1104', duration: 2 }],
    ['a first frame without a text', { ...one, prompt: '' }, 'gen4_turbo', 'image_to_video', { promptImage: first, ratio: '1280:720', duration: 5 }],
    ['two frames', { ...two, ratio: '9:16' }, 'veo3.1', 'image_to_video', { promptText, promptImage: [...first, { uri: b, position: 'last' }], ratio: '720:1280' }],
    ['a frame that gives the shape', { ...one, resolution: '1080p', ratio: '16:9' }, 'happyhorse_1_0', 'image_to_video', { promptText, promptImage: first, resolution: '1080p' }],
    ['a resolution and a ratio in words', { resolution: '2K', ratio: '9:16' }, 'hailuo3', 'text_to_video', { promptText, resolution: '2k', ratio: '9:16' }],
    ['the shape of its frames, in a word', { ...two, ratio: 'adaptive' }, 'hailuo3', 'image_to_video', { promptText, promptImage: [...first, { uri: b, position: 'last' }], ratio: 'adaptive' }],
    ['the shape of its frames, and a resolution', { ...two, resolution: '480p' }, 'wan3', 'image_to_video', { promptText, promptImage: [...first, { uri: b, position: 'last' }], ratio: 'auto_480p' }],
    ['references without their type', { references: [a], videos: [clip] }, 'gemini_omni_flash_1.1', 'text_to_video', { promptText, references: [{ uri: a }], referenceVideos: [{ uri: clip }] }],
    ['a video to edit where there are other uses', { ...edit, duration: 5, ratio: '1:1', seed: 3 }, 'seedance2_5', 'video_to_video', { promptText, promptVideo: clip, mode: 'edit', duration: 'auto', seed: 3 }],
    ['a video to continue', { ...extend, duration: 8, resolution: '720p', ratio: '1:1' }, 'seedance2_5', 'video_to_video', { promptText, promptVideo: clip, mode: 'extend', duration: 8 }],
    ['a video to continue, with a reference', { ...extend, references: [a] }, 'gemini_omni_flash_1.1', 'video_to_video', { promptText, videoUri: clip, mode: 'extend', references: [{ uri: a }] }],
    ['frames of a model with references', { ...two, ratio: 'adaptive' }, 'seedance2', 'image_to_video', { promptText, promptImage: [...first, { uri: b, position: 'last' }] }],
    ['references', { references: [a], videos: [clip], audios: [song] }, 'seedance2_mini', 'text_to_video', { promptText, references: [{ uri: a }], referenceVideos: [{ type: 'video', uri: clip }], referenceAudio: [{ type: 'audio', uri: song }] }],
    ['a video to edit, with a reference', { ...edit, references: [a], duration: 5 }, 'seedance2', 'video_to_video', { promptText, promptVideo: clip, references: [{ uri: a }], duration: 5 }],
    ['a video to edit, which gives the length', { ...edit, duration: 5 }, 'gemini_omni_flash', 'video_to_video', { promptText, videoUri: clip }],
    ['an edit in another shape', { ...edit, ratio: '21:9', extra: { keyframes: [{ uri: a, seconds: 1 }] } }, 'aleph2', 'video_to_video', { promptText, videoUri: clip, targetAspectRatio: '21:9', keyframes: [{ uri: a, seconds: 1 }] }],
    ['a model that is not known', { ...two, duration: 12, ratio: '9:16' }, 'kling3.0_pro', 'image_to_video', { promptText, promptImage: [...first, { uri: b, position: 'last' }], ratio: '720:1280', duration: 12 }],
  ], (model) => ({ model }), '/v1/'); // prettier-ignore

  videos.checks([
    ['a long prompt', { prompt: 'x'.repeat(1001) }, 'gen4.5', 'prompt'],
    ['a longer one', { prompt: 'x'.repeat(3501) }, 'seedance2', 'prompt'],
    ['a draft', { draft: true }, 'gen4.5', 'metadata.draft'],
    ['tools', { tools: [] }, 'gen4.5', 'metadata.tools'],
    ['a watermark', { watermark: true }, 'gen4.5', 'metadata.watermark'],
    ['a seed', { seed: 1 }, 'hailuo3', 'metadata.seed'],
    ['an unknown part of a video', { ...edit, extra: { video_task: 'style' } }, 'seedance2', 'metadata.video_task'],
    ['an extension without words', { ...extend, prompt: '' }, 'seedance2_5', 'prompt'],
    ['an extension of a minute', { ...extend, duration: 60 }, 'seedance2_5', 'duration'],
    ['an extension by a model that continues nothing', extend, 'seedance2', 'metadata.video_task'],
    ['an extension without a video', { extra: { video_task: 'extend' } }, 'seedance2_5', 'metadata.video_task'],
    ['plain HTTP', { firstFrame: a, lastFrame: 'http://ex.com/b.png' }, 'veo3.1', 'images'],
    ['an asset', { firstFrame: 'asset://1' }, 'veo3.1', 'images'],
    ['a long address', { ...edit, videos: [`${clip}?${'x'.repeat(2048)}`] }, 'aleph2', 'videos[0]'],
    ['text for a model of images', {}, 'gen4_turbo', 'images'],
    ['text for a model of edits', {}, 'aleph2', 'videos'],
    ['a last frame', two, 'gen4.5', 'images'],
    ['a video', { ...one, videos: [clip] }, 'veo3.1', 'videos'],
    ['audio', { ...one, audios: [song] }, 'veo3.1', 'audios'],
    ['audio without a text', { references: [a], audios: [song], prompt: '' }, 'seedance2', 'prompt'],
    ['two videos to edit', { ...edit, videos: [clip, clip] }, 'seedance2', 'videos'],
    ['audio beside an edit', { ...edit, audios: [song] }, 'seedance2', 'audios'],
    ['an image beside an edit', { ...edit, references: [a] }, 'aleph2', 'images'],
    ['a resolution', { resolution: '1080p' }, 'gen4.5', 'resolution'],
    ['a ratio', { ratio: '4:3' }, 'veo3.1', 'ratio'],
    ['a ratio that only images have', { ratio: '4:3' }, 'gen4.5', 'ratio'],
    ['the shape of no image', { ratio: 'adaptive' }, 'seedance2', 'ratio'],
    ['a shape that must be named', { ...one, ratio: 'adaptive' }, 'gen4.5', 'ratio'],
    ['a ratio where the model has one', { resolution: '768p', ratio: '9:16' }, 'h3_max', 'ratio'],
    ['the shape of no image, in a word', { ratio: 'adaptive' }, 'hailuo3', 'ratio'],
    ['a ratio that no edit extends to', { ...edit, ratio: '5:4' }, 'aleph2', 'ratio'],
    ['no text', { ...one, prompt: '' }, 'gen4.5', 'prompt'],
    ['a video as a reference', { ...one, videos: [clip] }, 'grok_imagine_1_5', 'videos'],
    ['1 s', { duration: 1 }, 'gen4.5', 'duration'],
    ['11 s', { duration: 11 }, 'gen4.5', 'duration'],
    ['5 s', { duration: 5 }, 'veo3.1', 'duration'],
    ['any length', { duration: 'auto' }, 'seedance2', 'duration'],
    ['sound', { generateAudio: true }, 'gen4.5', 'metadata.generate_audio'],
    ['silence', { generateAudio: false }, 'veo3', 'metadata.generate_audio'],
    ['a switch that is not known', { generateAudio: false }, 'hailuo3', 'metadata.generate_audio'],
  ]); // prettier-ignore

  videos.renders([
    ['what the model demands', {}, 'gen4.5', { resolutions: ['720p'], seconds: { min: 5, max: 5 } }],
    ['the ratio that it demands', {}, 'veo3.1', { resolutions: ['720p'], seconds: { min: 4, max: 8 } }],
    ['anything, where it demands nothing', {}, 'seedance2_mini', { resolutions: ['720p', '480p'], seconds: { min: 4, max: 15 } }],
    ['the usual one for a ratio', { ratio: '1:1', duration: 4 }, 'seedance2', { resolutions: ['720p'] }],
    ['what was asked for', { resolution: '480p', duration: 4 }, 'seedance2', {}],
    ['any resolution beside a ratio of its own', { ratio: '1:1', duration: 5 }, 'hailuo3', { resolutions: ['768p', '2k'] }],
    ['the usual one of frames', { ...two, duration: 5 }, 'wan3', { resolutions: ['720p'] }],
    ['an extension of any length', extend, 'seedance2_5', { resolutions: ['720p', '480p', '1080p'], seconds: { min: 4, max: 30 } }],
    ['an edit as long as its video', { ...edit, duration: 4 }, 'aleph2', { seconds: { min: 2, max: 10 } }],
  ]); // prettier-ignore
});

describe('an image', () => {
  it('has its own path', async () => {
    expect((await images.sentFor({}, 'gen4_image')).path).toBe('/v1/text_to_image');
  });

  const url = { form: 'url', url: a } as const;
  const data = { form: 'data', mediaType: 'image/png', base64: 'QUJD' } as const;

  images.sends([
    ['in pixels', { size: '1920x1080', extra: { seed: 1, other: 2 } }, 'gen4_image', { ratio: '1920:1080', seed: 1 }],
    ['of the usual size', {}, 'gemini_2.5_flash', { ratio: '1024:1024' }],
    ['of any size, at a model that is not known', { size: '1x2' }, 'later_image', { ratio: '1:2' }],
    ['as large as the model likes', { size: 'auto' }, 'muse_image', { ratio: 'auto' }],
    ['in a class', { size: '2K' }, 'seedream5_pro', { ratio: 'auto_2k' }],
    ['of several', { n: 4, size: '512x2048' }, 'gemini_image3.1_flash', { ratio: '512:2048', outputCount: 4 }],
    ['with a quality', { quality: 'high', extra: { background: 'opaque' } }, 'gpt_image_2', { ratio: '1920:1920', quality: 'high', background: 'opaque' }],
    ['after references with names', { images: [url, data] }, 'gen4_image_turbo', { ratio: '1024:1024', referenceImages: [{ uri: a, tag: 'image_1' }, { uri: 'data:image/png;base64,QUJD', tag: 'image_2' }] }],
    ['after references', { images: [url] }, 'seedream5_lite', { ratio: '2048:2048', referenceImages: [{ uri: a }] }],
  ], (model) => ({ model, promptText: 'a red cube' })); // prettier-ignore

  images.checks([
    ['a long prompt', { prompt: 'x'.repeat(1001) }, 'gen4_image', 'prompt'],
    ['a mask', { mask: data }, 'gpt_image_2', 'mask'],
    ['two', { n: 2 }, 'gen4_image', 'n'],
    ['two of four', { n: 2 }, 'gemini_image3.1_flash', 'n'],
    ['a quality', { quality: 'high' }, 'gen4_image', 'quality'],
    ['a seed', { extra: { seed: 1 } }, 'gpt_image_2', 'seed'],
    ['no reference', {}, 'gen4_image_turbo', 'image'],
    ['plain HTTP', { images: [{ form: 'url', url: 'http://ex.com/a.png' }] }, 'gen4_image', 'image'],
    ['another size', { size: '1000x1000' }, 'gen4_image', 'size'],
    ['a class', { size: '1K' }, 'gen4_image', 'size'],
    ['a size of none', { size: '1024x1024' }, 'gpt_image_2', 'size'],
    ['a quality of others', { quality: 'max' }, 'gpt_image_2', 'quality'],
  ]); // prettier-ignore
});
