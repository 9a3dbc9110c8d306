import { describe, expect, it } from 'vitest';
import { factsFor } from '../../../src/models/facts-of-request.ts';
import { servedFacts } from '../../../src/models/facts-table.ts';
import type { ImageInput, JsonObject, VideoRequest } from '../../../src/models/request.ts';
import { createKling } from '../../../src/providers/kling/index.ts';
import { klingFacts } from '../../../src/providers/kling/kling-facts.ts';
import { fixture, videoOutput, videoRequest } from '../support.ts';
import { imageTables, videoTables } from '../vendor-tables.ts';

const { video, imageTask } = createKling(() => 0);
if (video === undefined || imageTask === undefined) throw new Error('a capability is missing');

const a = 'https://ex.com/a.png';
const b = 'https://ex.com/b.png';
const clip = 'https://ex.com/a.mp4';
const prompt = 'a fox in the snow';
const frames = { firstFrame: a, lastFrame: b } as const;
const reference = (images: string[], over: Partial<VideoRequest> = {}): Partial<VideoRequest> => ({
  references: images,
  ...over,
});

const created = (model: string) => ({
  json: fixture(model.startsWith('kling-v') ? 'kling/legacy-created' : 'kling/created'),
});
const videos = videoTables(video, { created });
const images = imageTables(imageTask, { created });

describe('a video of the new standard', () => {
  it('has its model in the path, and the marker in its options', async () => {
    const { submitted, sent, path } = await videos.sentFor({}, 'kling-3.0');
    expect(submitted).toEqual({ operation: { id: '893605946402811985' }, traceId: 'CjikY2gHPbcAAAAA' });
    expect(path).toBe('/text-to-video/kling-3.0');
    expect(sent).toMatchObject({ method: 'POST', headers: { authorization: 'Bearer test-key' } });
    expect(sent?.json).toEqual({ prompt, options: { external_task_id: 'mediary-t1-1' } });
  });

  videos.sends([
    [
      'text, with everything',
      { resolution: '1080P', ratio: '9:16', duration: 7, generateAudio: true, watermark: false },
      'kling-3.0',
      '/text-to-video/kling-3.0',
      {
        prompt,
        settings: { resolution: '1080p', duration: 7, aspect_ratio: '9:16', audio: 'native' },
        options: { external_task_id: 'mediary-t1-1', watermark_info: { enabled: false } },
      },
    ],
    ['one image, which is the first frame and gives the shape', { firstFrame: 'data:image/png;base64,QUJD', ratio: '16:9', generateAudio: false }, 'kling-3.0',
      '/image-to-video/kling-3.0', { contents: [{ type: 'prompt', text: prompt }, { type: 'first_frame', url: 'QUJD' }], settings: { audio: 'off' } }],
    ['two frames', { ...frames, ratio: 'adaptive' }, 'kling-3.0-turbo', '/image-to-video/kling-3.0-turbo',
      { contents: [{ type: 'prompt', text: prompt }, { type: 'first_frame', url: a }, { type: 'last_frame', url: b }] }],
    [
      'references, an element and a video, each with a name',
      reference([a, b], { videos: [clip], ratio: '1:1', extra: { element_list: [{ element_id: 7 }] } }),
      'kling-3.0-omni',
      '/omni-video/kling-3.0-omni',
      {
        contents: [
          { type: 'prompt', text: prompt },
          { type: 'refer_image', url: a, id: 'image_1' },
          { type: 'refer_image', url: b, id: 'image_2' },
          { type: 'feature_video', url: clip, id: 'video_1' },
          { type: 'element', element_id: '7', id: 'element_1' },
        ],
        settings: { aspect_ratio: '1:1' },
      },
    ],
    ['references without a ratio, which the vendor demands', reference([a]), 'kling-o1', '/omni-video/kling-o1',
      { contents: [{ type: 'prompt', text: prompt }, { type: 'refer_image', url: a, id: 'image_1' }], settings: { aspect_ratio: '16:9' } }],
    ['frames of an omni model', { ...frames, prompt: '' }, 'kling-3.0-omni', '/omni-video/kling-3.0-omni',
      { contents: [{ type: 'first_frame', url: a }, { type: 'last_frame', url: b }] }],
    ['a video to edit, in one shot, with its sound', reference([], { videos: [clip], ratio: '16:9', generateAudio: true, extra: { video_task: 'edit' } }),
      'kling-3.0-omni', '/omni-video/kling-3.0-omni',
      { contents: [{ type: 'prompt', text: prompt }, { type: 'base_video', url: clip, id: 'video_1' }], settings: { audio: 'original', multi_shot: false } }],
    ['sound where it is sold, and not where it is not', { firstFrame: a, resolution: '1080p', generateAudio: true }, 'kling-2.6', '/image-to-video/kling-2.6',
      { contents: [{ type: 'prompt', text: prompt }, { type: 'first_frame', url: a }], settings: { resolution: '1080p', audio: 'native' } }],
    ['a video to follow, with its shape', { firstFrame: a, videos: [clip], ratio: 'adaptive', generateAudio: false }, 'kling-o1', '/omni-video/kling-o1',
      { contents: [{ type: 'prompt', text: prompt }, { type: 'first_frame', url: a }, { type: 'feature_video', url: clip, id: 'video_1' }] }],
    [
      'the motion of a video for an image, with the sound of the video',
      reference([a], {
        videos: [clip],
        resolution: '1080p',
        ratio: '1:1',
        duration: 5,
        generateAudio: true,
        extra: { character_orientation: 'video' },
      }),
      'kling-3.0',
      '/motion-control/kling-3.0',
      {
        contents: [
          { type: 'prompt', text: prompt },
          { type: 'image', url: a },
          { type: 'video', url: clip },
        ],
        settings: { resolution: '1080p', audio: 'original', character_orientation: 'video' },
      },
    ],
    [
      'a model of tomorrow, with everything',
      {
        ...frames,
        ...reference([a], { videos: [clip], resolution: '8k', duration: 60, generateAudio: true }),
        extra: { element_list: [{ element_id: 7 }], style: 'film' },
      },
      'kling-5.0',
      '/omni-video/kling-5.0',
      {
        contents: [
          { type: 'prompt', text: prompt },
          { type: 'first_frame', url: a },
          { type: 'last_frame', url: b },
          { type: 'refer_image', url: a, id: 'image_1' },
          { type: 'feature_video', url: clip, id: 'video_1' },
          { type: 'element', element_id: '7', id: 'element_1' },
        ],
        settings: { resolution: '8k', duration: 60, audio: 'native', style: 'film' },
      },
    ],
    ['references of the fourth generation', reference([a], { ratio: '21:9', duration: 30 }), 'kling-4.0', '/omni-video/kling-4.0',
      { contents: [{ type: 'prompt', text: prompt }, { type: 'refer_image', url: a, id: 'image_1' }], settings: { aspect_ratio: '21:9', duration: 30 } }],
  ], () => ({ options: { external_task_id: 'mediary-t1-1' } })); // prettier-ignore

  it.each(['kling-2.5-turbo', 'kling-v2-1'])(
    'includes what the configuration adds to the table: %s',
    async (model) => {
      const { json } = await videos.sentFor(
        { firstFrame: a, ratio: '4:3', generateAudio: true, extra: { look: 1 } },
        model,
        { facts: { sound: 'choice', fields: { ratio: true }, parameters: { look: { sent_as: 'style' } } } },
      );
      const added = { aspect_ratio: '4:3', style: 1 };
      expect(model === 'kling-v2-1' ? json : json?.['settings']).toMatchObject(
        model === 'kling-v2-1' ? { ...added, sound: 'on' } : { ...added, audio: 'native' },
      );
    },
  );
});

describe('a video of the legacy standard', () => {
  const marked = { external_task_id: 'mediary-t1-1' };

  it('is polled at the path of its submission', async () => {
    const { submitted, path } = await videos.sentFor({}, 'kling-v2-6');
    expect(submitted).toMatchObject({ operation: { id: '831922345719271433', path } });
  });

  videos.sends([
    ['text, with a length that is a string', { resolution: '1080p', ratio: '9:16', duration: 10, generateAudio: true }, 'kling-v2-6',
      'text2video', { prompt, mode: 'pro', duration: '10', aspect_ratio: '9:16', sound: 'on' }],
    ['text, with all parameters that others have, too', { extra: { negative_prompt: 'rain', cfg_scale: 0.5, camera_control: { type: 'simple' } } }, 'kling-v1-6',
      'text2video', { prompt, negative_prompt: 'rain', cfg_scale: 0.5, camera_control: { type: 'simple' } }],
    ['two frames', { ...frames, watermark: true }, 'kling-v2-1', 'image2video', { prompt, image: a, image_tail: b, watermark_info: { enabled: true } }],
    ['several images', reference([a, b], { ratio: '1:1' }), 'kling-v1-6', 'multi-image2video', { prompt, image_list: [{ image: a }, { image: b }], aspect_ratio: '1:1' }],
    ['frames of an omni model', frames, 'kling-v3-omni', 'omni-video',
      { prompt, image_list: [{ image_url: a, type: 'first_frame' }, { image_url: b, type: 'end_frame' }] }],
    ['a model of tomorrow, with a resolution that has no word yet', { ...frames, references: [a], resolution: '2k', duration: 20 }, 'kling-v4', 'omni-video',
      { prompt, image_list: [{ image_url: a, type: 'first_frame' }, { image_url: b, type: 'end_frame' }, { image_url: a }], mode: '2k', duration: '20' }],
    ['a video to edit without its sound', reference([a], { videos: [clip], generateAudio: false, extra: { video_task: 'edit', element_list: [{ element_id: 'e' }] } }),
      'kling-video-o1', 'omni-video',
      { prompt, image_list: [{ image_url: a }], video_list: [{ video_url: clip, refer_type: 'base', keep_original_sound: 'no' }], element_list: [{ element_id: 'e' }] }],
  ], (model) => ({ model_name: model, ...marked }), '/v1/videos/'); // prettier-ignore
});

const turned = { character_orientation: 'image' };
const moved = reference([a], { videos: [clip], extra: turned });
const references = (count: number) => Array.from({ length: count }, () => a);
const listed = (count: number): JsonObject => ({
  element_list: Array.from({ length: count }, (_, index) => ({ element_id: String(index) })),
});

describe('check', () => {
  videos.checks([
    ['a voice, which is billed beside the video', { extra: { voice_list: [{ voice_id: 'v' }] } }, 'kling-v2-6', 'metadata.voice_list'],
    ['a long prompt', { prompt: 'x'.repeat(3073) }, 'kling-3.0', 'prompt'],
    ['the longest prompt', { prompt: 'x'.repeat(3072) }, 'kling-3.0', undefined],
    ['a long legacy prompt', { prompt: 'x'.repeat(2501) }, 'kling-v2-6', 'prompt'],
    ['an asset', { firstFrame: 'asset://1' }, 'kling-3.0', 'images'],
    ['an inline video', reference([], { videos: ['data:video/mp4;base64,QUJD'] }), 'kling-o1', 'videos[0]'],
    ['seven and an element', reference(references(7), { extra: listed(1) }), 'kling-3.0-omni', 'images'],
    ['four beside a video', reference(references(4), { videos: [clip] }), 'kling-o1', undefined],
    ['five beside a video', reference(references(5), { videos: [clip] }), 'kling-o1', 'images'],
    ['three elements beside frames', { ...frames, extra: listed(3) }, 'kling-3.0', undefined],
    ['four elements beside frames', { ...frames, extra: listed(4) }, 'kling-3.0', 'metadata.element_list'],
    ['elements beside text', { extra: listed(1) }, 'kling-3.0', 'metadata.element_list'],
    ['ten elements of a model of tomorrow', { ...frames, extra: listed(10) }, 'kling-5.0', undefined],
    ['a role without a video', { extra: { video_task: 'edit' } }, 'kling-3.0-omni', 'metadata.video_task'],
    ['an unknown role', reference([], { videos: [clip], extra: { video_task: 'x' } }), 'kling-3.0-omni', 'metadata.video_task'],
    ['frames and a video to edit', { ...frames, videos: [clip], extra: { video_task: 'edit' } }, 'kling-3.0-omni', 'images'],
    ['one shot beside a video to follow', reference([], { videos: [clip], extra: { multi_shot: false } }), 'kling-3.0-omni', 'metadata.multi_shot'],
    ['several shots of a video to edit', reference([], { videos: [clip], extra: { video_task: 'edit', multi_shot: true } }), 'kling-3.0-omni', 'metadata.multi_shot'],
    ['a motion without an image', { videos: [clip], extra: turned }, 'kling-2.6', 'videos'],
    ['a motion without a video', { references: [a], extra: turned }, 'kling-2.6', 'videos'],
    ['a motion of a first frame', { firstFrame: a, videos: [clip], extra: turned }, 'kling-2.6', 'images'],
    ['a motion of two images', reference([a, b], { videos: [clip], extra: turned }), 'kling-2.6', 'images'],
    ['a side that does not exist', reference([a], { videos: [clip], extra: { character_orientation: 'left' } }), 'kling-3.0', 'metadata.character_orientation'],
    ['a motion of omni', reference([a], { videos: [clip], extra: turned }), 'kling-3.0-omni', 'metadata.character_orientation'],
    ['4k of turbo', { resolution: '4k' }, 'kling-3.0-turbo', 'resolution'],
    ['11 s of o1', { duration: 11 }, 'kling-o1', 'duration'],
    ['7 s of an old model', { duration: 7 }, 'kling-v2-6', 'duration'],
    ['4:3', { ratio: '4:3' }, 'kling-3.0', 'ratio'],
    ['4:3 of frames', { ...frames, ratio: '4:3' }, 'kling-3.0', undefined],
    ['an adaptive ratio of references', reference([a], { ratio: 'adaptive' }), 'kling-3.0-omni', 'ratio'],
    ['sound of 2.6', { generateAudio: true }, 'kling-2.6', 'metadata.generate_audio'],
    ['sound of 2.6 at 1080p', { generateAudio: true, resolution: '1080p' }, 'kling-2.6', undefined],
  ]); // prettier-ignore

  it('uses an image as the figure of a motion, or else as a first frame', () => {
    const counts = [turned, {}].map(
      (extra) => factsFor({ extra }, servedFacts(klingFacts, { upstream: 'kling-3.0' })).media?.references,
    );
    expect(counts).toEqual([1, 0]);
  });

  it('holds the longest video of its orientation for a motion', () => {
    const held = (side: string) =>
      videoOutput(
        video,
        videoRequest({ ...moved, duration: 5, extra: { character_orientation: side } }),
        'kling-3.0',
      )?.seconds;
    expect([held('image'), held('video')]).toEqual([
      { min: 3, max: 10 },
      { min: 3, max: 30 },
    ]);
  });

  it('holds the longest video for an edit, and the usual values for anything open', () => {
    const edit = reference([], { videos: [clip], duration: 5, extra: { video_task: 'edit' } });
    expect(videoOutput(video, videoRequest(edit), 'kling-o1')).toEqual({
      resolutions: ['720p'],
      seconds: { min: 3, max: 15 },
    });
    expect(videoOutput(video, videoRequest({ resolution: '4k', duration: 7 }), 'kling-3.0')).toEqual({});
    expect(videoOutput(video, videoRequest({}), 'kling-3.0')).toEqual({
      resolutions: ['720p'],
      seconds: { min: 5, max: 5 },
    });
  });
});

describe('an image', () => {
  const link: ImageInput = { form: 'url', url: a };
  const data: ImageInput = { form: 'data', mediaType: 'image/png', base64: 'QUJD' };

  images.sends([
    ['of text', { n: 3, size: '1280x720', extra: { negative_prompt: 'rain', watermark: true, seed: 1 } }, 'kling-v3', 'generations',
      { negative_prompt: 'rain', n: 3, aspect_ratio: '16:9', resolution: '1k', watermark_info: { enabled: true } }],
    ['of an image', { images: [data], size: '2K' }, 'kling-v2-1', 'generations', { image: 'QUJD', n: 1, resolution: '2k' }],
    ['of several images', { images: [link, data], size: '4k' }, 'kling-image-o1', 'omni-image',
      { image_list: [{ image: a }, { image: 'QUJD' }], n: 1, resolution: '4k' }],
  ], (model) => ({ model_name: model, prompt: 'a red cube', external_task_id: 'mediary-t1-1' }), '/v1/images/'); // prettier-ignore

  it('is polled at the path of its submission', async () => {
    const { submitted, path } = await images.sentFor({}, 'kling-v3');
    expect(submitted).toMatchObject({ operation: { id: '831922345719271433', path } });
  });

  images.checks([
    ['two images', { images: [link, link] }, 'kling-v3', 'image'],
    ['a mask', { images: [link], mask: data }, 'kling-v3', 'mask'],
    ['ten', { n: 10 }, 'kling-v3', 'n'],
    ['what to leave out of an image', { images: [link], extra: { negative_prompt: 'x' } }, 'kling-v3', 'negative_prompt'],
    ['a ratio that is not sold', { size: '1000x700' }, 'kling-v3', 'size'],
    ['2048x2048', { size: '2048x2048' }, 'kling-v3', undefined],
    ['a long prompt', { prompt: 'x'.repeat(2501) }, 'kling-v3', 'prompt'],
  ]); // prettier-ignore
});
