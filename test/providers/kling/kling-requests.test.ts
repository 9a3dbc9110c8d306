import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SubmitContext } from '../../../src/providers/provider.ts';
import { factsFor } from '../../../src/models/model-facts.ts';
import { servedFacts } from '../../../src/models/facts-table.ts';
import type { ImageInput, ImageRequest, JsonObject, VideoRequest } from '../../../src/models/request.ts';
import { createKling } from '../../../src/providers/kling/index.ts';
import { klingFacts } from '../../../src/providers/kling/kling-facts.ts';
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

const { video, imageTask } = createKling(() => 0);
if (video === undefined || imageTask === undefined) throw new Error('a capability is missing');

const klingOwnFields = ['video_task', 'element_list', ...(klingFacts.others.reserved ?? [])];
const a = 'https://ex.com/a.png';
const b = 'https://ex.com/b.png';
const clip = 'https://ex.com/a.mp4';
const prompt = 'a fox in the snow';
const frames = { firstFrame: a, lastFrame: b } as const;
const reference = (images: string[], over: Partial<VideoRequest> = {}): Partial<VideoRequest> => ({
  references: images,
  ...over,
});

async function sentFor(request: Partial<VideoRequest>, model: string, over: Partial<SubmitContext> = {}) {
  const upstream = canned({
    json: fixture(model.startsWith('kling-v') ? 'kling/legacy-created' : 'kling/created'),
  });
  const submitted = await video?.submit(
    videoRequest(request),
    submitContext({
      model,
      request: upstream.request,
      ...over,
    }),
  );
  const [sent] = upstream.sent;
  return { submitted, sent, path: sent?.url.split('/api/v3')[1], json: sent?.json };
}

describe('a video of the new standard', () => {
  it('has its model in the path, and the marker in its options', async () => {
    const { submitted, sent, path } = await sentFor({}, 'kling-3.0');
    expect(submitted).toEqual({ operation: { id: '893605946402811985' }, traceId: 'CjikY2gHPbcAAAAA' });
    expect(path).toBe('/text-to-video/kling-3.0');
    expect(sent).toMatchObject({ method: 'POST', headers: { authorization: 'Bearer test-key' } });
    expect(sent?.json).toEqual({ prompt, options: { external_task_id: 'mediary-t1-1' } });
  });

  it.each<[string, Partial<VideoRequest>, string, string, object]>([
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
    [
      'one image, which is the first frame and gives the shape',
      { firstFrame: 'data:image/png;base64,QUJD', ratio: '16:9', generateAudio: false },
      'kling-3.0',
      '/image-to-video/kling-3.0',
      {
        contents: [
          { type: 'prompt', text: prompt },
          { type: 'first_frame', url: 'QUJD' },
        ],
        settings: { audio: 'off' },
      },
    ],
    [
      'two frames',
      { ...frames, ratio: 'adaptive' },
      'kling-3.0-turbo',
      '/image-to-video/kling-3.0-turbo',
      {
        contents: [
          { type: 'prompt', text: prompt },
          { type: 'first_frame', url: a },
          { type: 'last_frame', url: b },
        ],
      },
    ],
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
    [
      'references without a ratio, which the vendor demands',
      reference([a]),
      'kling-o1',
      '/omni-video/kling-o1',
      {
        contents: [
          { type: 'prompt', text: prompt },
          { type: 'refer_image', url: a, id: 'image_1' },
        ],
        settings: { aspect_ratio: '16:9' },
      },
    ],
    [
      'frames of an omni model',
      { ...frames, prompt: '' },
      'kling-3.0-omni',
      '/omni-video/kling-3.0-omni',
      {
        contents: [
          { type: 'first_frame', url: a },
          { type: 'last_frame', url: b },
        ],
      },
    ],
    [
      'a video to edit, in one shot, with its sound',
      reference([], { videos: [clip], ratio: '16:9', generateAudio: true, extra: { video_task: 'edit' } }),
      'kling-3.0-omni',
      '/omni-video/kling-3.0-omni',
      {
        contents: [
          { type: 'prompt', text: prompt },
          { type: 'base_video', url: clip, id: 'video_1' },
        ],
        settings: { audio: 'original', multi_shot: false },
      },
    ],
    [
      'sound where it is sold, and not where it is not',
      { firstFrame: a, resolution: '1080p', generateAudio: true },
      'kling-2.6',
      '/image-to-video/kling-2.6',
      {
        contents: [
          { type: 'prompt', text: prompt },
          { type: 'first_frame', url: a },
        ],
        settings: { resolution: '1080p', audio: 'native' },
      },
    ],
    [
      'a video to follow, with its shape',
      { firstFrame: a, videos: [clip], ratio: 'adaptive', generateAudio: false },
      'kling-o1',
      '/omni-video/kling-o1',
      {
        contents: [
          { type: 'prompt', text: prompt },
          { type: 'first_frame', url: a },
          { type: 'feature_video', url: clip, id: 'video_1' },
        ],
      },
    ],
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
    [
      'references of the fourth generation',
      reference([a], { ratio: '21:9', duration: 30 }),
      'kling-4.0',
      '/omni-video/kling-4.0',
      {
        contents: [
          { type: 'prompt', text: prompt },
          { type: 'refer_image', url: a, id: 'image_1' },
        ],
        settings: { aspect_ratio: '21:9', duration: 30 },
      },
    ],
  ])('%s', async (_, request, model, ...[expectedPath, body]) => {
    expect(videoIssue(video, videoRequest(request), model)).toBeUndefined();
    const { path, json } = await sentFor(request, model);
    expect(path).toBe(expectedPath);
    expect(json).toEqual({ options: { external_task_id: 'mediary-t1-1' }, ...body });
  });

  it.each(['kling-2.5-turbo', 'kling-v2-1'])(
    'has what the configuration adds to the table: %s',
    async (model) => {
      const { json } = await sentFor(
        { firstFrame: a, ratio: '4:3', generateAudio: true, extra: { look: 1 } },
        model,
        {
          facts: { sound: 'choice', fields: { ratio: true }, parameters: { look: { sent_as: 'style' } } },
        },
      );
      const added = { aspect_ratio: '4:3', style: 1 };
      expect(model === 'kling-v2-1' ? json : json?.['settings']).toMatchObject(
        model === 'kling-v2-1' ? { ...added, sound: 'on' } : { ...added, audio: 'native' },
      );
    },
  );

  it('is called back at our address only', async () => {
    const { json } = await sentFor({ extra: { callback_url: 'https://evil.example' } }, 'kling-3.0', {
      callbackUrl: 'https://gw.example/cb',
    });
    expect(json?.['options']).toEqual({
      external_task_id: 'mediary-t1-1',
      callback_url: 'https://gw.example/cb',
    });
    expect(JSON.stringify(json)).not.toContain('evil');
  });
});

describe('a video of the legacy standard', () => {
  const marked = { external_task_id: 'mediary-t1-1' };

  it.each<[string, Partial<VideoRequest>, string, string, object]>([
    [
      'text, with a length that is a string',
      { resolution: '1080p', ratio: '9:16', duration: 10, generateAudio: true },
      'kling-v2-6',
      'text2video',
      { prompt, mode: 'pro', duration: '10', aspect_ratio: '9:16', sound: 'on' },
    ],
    [
      'text, with all parameters that others have, too',
      { extra: { negative_prompt: 'rain', cfg_scale: 0.5, camera_control: { type: 'simple' } } },
      'kling-v1-6',
      'text2video',
      { prompt, negative_prompt: 'rain', cfg_scale: 0.5, camera_control: { type: 'simple' } },
    ],
    [
      'two frames',
      { ...frames, watermark: true },
      'kling-v2-1',
      'image2video',
      { prompt, image: a, image_tail: b, watermark_info: { enabled: true } },
    ],
    [
      'several images',
      reference([a, b], { ratio: '1:1' }),
      'kling-v1-6',
      'multi-image2video',
      { prompt, image_list: [{ image: a }, { image: b }], aspect_ratio: '1:1' },
    ],
    [
      'frames of an omni model',
      frames,
      'kling-v3-omni',
      'omni-video',
      {
        prompt,
        image_list: [
          { image_url: a, type: 'first_frame' },
          { image_url: b, type: 'end_frame' },
        ],
      },
    ],
    [
      'a model of tomorrow, with a resolution that has no word yet',
      { ...frames, references: [a], resolution: '2k', duration: 20 },
      'kling-v4',
      'omni-video',
      {
        prompt,
        image_list: [
          { image_url: a, type: 'first_frame' },
          { image_url: b, type: 'end_frame' },
          { image_url: a },
        ],
        mode: '2k',
        duration: '20',
      },
    ],
    [
      'a video to edit without its sound',
      reference([a], {
        videos: [clip],
        generateAudio: false,
        extra: { video_task: 'edit', element_list: [{ element_id: 'e' }] },
      }),
      'kling-video-o1',
      'omni-video',
      {
        prompt,
        image_list: [{ image_url: a }],
        video_list: [{ video_url: clip, refer_type: 'base', keep_original_sound: 'no' }],
        element_list: [{ element_id: 'e' }],
      },
    ],
  ])('%s', async (_, request, model, ...[service, body]) => {
    expect(videoIssue(video, videoRequest(request), model)).toBeUndefined();
    const { submitted, path, json } = await sentFor(request, model);
    expect(path).toBe(`/v1/videos/${service}`);
    expect(submitted?.operation).toEqual({ id: '831922345719271433', path });
    expect(json).toEqual({ model_name: model, ...marked, ...body });
  });
});

describe('metadata', () => {
  it.each(['kling-3.0', 'kling-3.0-omni', 'kling-v2-6', 'kling-v3-omni'])(
    'never overrides what the gateway decides: %s',
    async (model) => {
      const name = fc.oneof(fc.constantFrom(...klingOwnFields, 'negative_prompt'), fc.string());
      const asked = { resolution: '1080p', ratio: '16:9', duration: 5 };
      const legacy = model.startsWith('kling-v');
      const own = new Set([...klingOwnFields, ...(legacy ? [] : ['negative_prompt'])]);
      const bodyOf = async (extra: JsonObject) => (await sentFor({ ...asked, extra }, model)).json ?? {};
      await fc.assert(
        fc.asyncProperty(fc.dictionary(name, fc.jsonValue()), async (values) => {
          const { element_list: _, ...rest } = values;
          const extra = JSON.parse(JSON.stringify(rest)) as JsonObject;
          const passed = Object.fromEntries(Object.entries(extra).filter(([field]) => !own.has(field)));
          const plain = await bodyOf({});
          const settings = plain['settings'] as JsonObject;
          expect(await bodyOf(extra)).toEqual(
            legacy ? { ...passed, ...plain } : { ...plain, settings: { ...passed, ...settings } },
          );
        }),
      );
    },
  );
});

const turned = { character_orientation: 'image' };
const moved = reference([a], { videos: [clip], extra: turned });
const references = (count: number) => Array.from({ length: count }, () => a);
const listed = (count: number): JsonObject => ({
  element_list: Array.from({ length: count }, (_, index) => ({ element_id: String(index) })),
});

describe('check', () => {
  it.each<[string, Partial<VideoRequest>, string, string | undefined]>([
    [
      'a voice, which is billed beside the video',
      { extra: { voice_list: [{ voice_id: 'v' }] } },
      'kling-v2-6',
      'metadata.voice_list',
    ],
    ['a long prompt', { prompt: 'x'.repeat(3073) }, 'kling-3.0', 'prompt'],
    ['the longest prompt', { prompt: 'x'.repeat(3072) }, 'kling-3.0', undefined],
    ['a long legacy prompt', { prompt: 'x'.repeat(2501) }, 'kling-v2-6', 'prompt'],
    ['a scale of its own', { extra: { cfg_scale: 7 } }, 'kling-v1', 'metadata.cfg_scale'],
    ['a scale that it lacks', { extra: { cfg_scale: 7 } }, 'kling-v2-6', undefined],
    ['a draft', { draft: true }, 'kling-3.0', 'metadata.draft'],
    ['tools', { tools: [] }, 'kling-3.0', 'metadata.tools'],
    ['a seed', { seed: 1 }, 'kling-3.0', 'metadata.seed'],
    ['audio', { audios: ['https://ex.com/a.mp3'] }, 'kling-3.0-omni', 'audios'],
    ['an asset', { firstFrame: 'asset://1' }, 'kling-3.0', 'images'],
    ['an inline video', reference([], { videos: ['data:video/mp4;base64,QUJD'] }), 'kling-o1', 'videos[0]'],
    ['a video for a plain model', reference([], { videos: [clip] }), 'kling-3.0', 'videos'],
    ['two videos', reference([], { videos: [clip, clip] }), 'kling-3.0-omni', 'videos'],
    ['three references of a plain model', reference(references(3)), 'kling-3.0', 'images'],
    ['four images of a legacy model', reference(references(4)), 'kling-v1-6', undefined],
    ['five images of a legacy model', reference(references(5)), 'kling-v1-6', 'images'],
    ['seven references', reference(references(7)), 'kling-3.0-omni', undefined],
    ['eight references', reference(references(8)), 'kling-3.0-omni', 'images'],
    ['seven and an element', reference(references(7), { extra: listed(1) }), 'kling-3.0-omni', 'images'],
    ['four beside a video', reference(references(4), { videos: [clip] }), 'kling-o1', undefined],
    ['five beside a video', reference(references(5), { videos: [clip] }), 'kling-o1', 'images'],
    ['three elements beside frames', { ...frames, extra: listed(3) }, 'kling-3.0', undefined],
    ['four elements beside frames', { ...frames, extra: listed(4) }, 'kling-3.0', 'metadata.element_list'],
    ['elements beside text', { extra: listed(1) }, 'kling-3.0', 'metadata.element_list'],
    ['elements of an omni model beside text', { extra: listed(1) }, 'kling-3.0-omni', undefined],
    ['ten elements of a model of tomorrow', { ...frames, extra: listed(10) }, 'kling-5.0', undefined],
    ['sound of a model of tomorrow', { audios: ['https://ex.com/a.mp3'] }, 'kling-5.0', 'audios'],
    ['two videos of a model of tomorrow', { videos: [clip, clip] }, 'kling-v4', 'videos'],
    [
      'no list of elements',
      { ...frames, extra: { element_list: 'x' } },
      'kling-3.0',
      'metadata.element_list',
    ],
    ['a role without a video', { extra: { video_task: 'edit' } }, 'kling-3.0-omni', 'metadata.video_task'],
    [
      'an unknown role',
      reference([], { videos: [clip], extra: { video_task: 'x' } }),
      'kling-3.0-omni',
      'metadata.video_task',
    ],
    [
      'frames and a video to edit',
      { ...frames, videos: [clip], extra: { video_task: 'edit' } },
      'kling-3.0-omni',
      'images',
    ],
    [
      'one shot beside a video to follow',
      reference([], { videos: [clip], extra: { multi_shot: false } }),
      'kling-3.0-omni',
      'metadata.multi_shot',
    ],
    [
      'several shots of a video to edit',
      reference([], { videos: [clip], extra: { video_task: 'edit', multi_shot: true } }),
      'kling-3.0-omni',
      'metadata.multi_shot',
    ],
    ['a motion without an image', { videos: [clip], extra: turned }, 'kling-2.6', 'videos'],
    ['a motion without a video', { references: [a], extra: turned }, 'kling-2.6', 'videos'],
    ['a motion of a first frame', { firstFrame: a, videos: [clip], extra: turned }, 'kling-2.6', 'images'],
    ['a motion of two images', reference([a, b], { videos: [clip], extra: turned }), 'kling-2.6', 'images'],
    [
      'a side that does not exist',
      reference([a], { videos: [clip], extra: { character_orientation: 'left' } }),
      'kling-3.0',
      'metadata.character_orientation',
    ],
    [
      'a motion of omni',
      reference([a], { videos: [clip], extra: turned }),
      'kling-3.0-omni',
      'metadata.character_orientation',
    ],
    ['a motion at 4k', { ...moved, resolution: '4k' }, 'kling-3.0', 'resolution'],
    ['4k of 3.0', { resolution: '4k' }, 'kling-3.0', undefined],
    ['4k of turbo', { resolution: '4k' }, 'kling-3.0-turbo', 'resolution'],
    ['480p', { resolution: '480p' }, 'kling-3.0', 'resolution'],
    ['2 s', { duration: 2 }, 'kling-3.0', 'duration'],
    ['15 s', { duration: 15 }, 'kling-3.0', undefined],
    ['16 s', { duration: 16 }, 'kling-3.0', 'duration'],
    ['16 s of 4.0', { duration: 16 }, 'kling-4.0', undefined],
    ['11 s of o1', { duration: 11 }, 'kling-o1', 'duration'],
    ['7 s of an old model', { duration: 7 }, 'kling-v2-6', 'duration'],
    ['7 s of 2.6, which is not documented', { duration: 7 }, 'kling-2.6', undefined],
    ['any length', { duration: 'auto' }, 'kling-3.0', 'duration'],
    ['half a second', { duration: 3.5 }, 'kling-3.0', 'duration'],
    ['4:3', { ratio: '4:3' }, 'kling-3.0', 'ratio'],
    ['4:3 of frames', { ...frames, ratio: '4:3' }, 'kling-3.0', undefined],
    ['an adaptive ratio of text', { ratio: 'adaptive' }, 'kling-3.0', 'ratio'],
    ['an adaptive ratio of references', reference([a], { ratio: 'adaptive' }), 'kling-3.0-omni', 'ratio'],
    ['silence of turbo', { generateAudio: false }, 'kling-3.0-turbo', 'metadata.generate_audio'],
    ['sound of turbo', { generateAudio: true }, 'kling-3.0-turbo', undefined],
    ['sound of 2.5', { generateAudio: true }, 'kling-2.5-turbo', 'metadata.generate_audio'],
    ['sound of o1', { generateAudio: true }, 'kling-o1', 'metadata.generate_audio'],
    ['sound of 2.6', { generateAudio: true }, 'kling-2.6', 'metadata.generate_audio'],
    ['sound of 2.6 at 1080p', { generateAudio: true, resolution: '1080p' }, 'kling-2.6', undefined],
    [
      'sound beside a video',
      reference([], { videos: [clip], generateAudio: true }),
      'kling-3.0-omni',
      'metadata.generate_audio',
    ],
  ])('%s', (_, request, model, param) => {
    expect(videoIssue(video, videoRequest(request), model)?.param).toBe(param);
  });

  it('takes an image for the figure of a motion, and else for a first frame', () => {
    const counts = [turned, {}].map(
      (extra) => factsFor({ extra }, servedFacts(klingFacts, { upstream: 'kling-3.0' })).media?.references,
    );
    expect(counts).toEqual([1, 0]);
  });

  it('holds a motion at the longest video of its side', () => {
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

  it('holds an edit at the longest video, and what is left open at the usual', () => {
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

  it.each<[string, Partial<ImageRequest>, string, string, object]>([
    [
      'of text',
      { n: 3, size: '1280x720', extra: { negative_prompt: 'rain', watermark: true, seed: 1 } },
      'kling-v3',
      'generations',
      {
        negative_prompt: 'rain',
        n: 3,
        aspect_ratio: '16:9',
        resolution: '1k',
        watermark_info: { enabled: true },
      },
    ],
    [
      'of an image',
      { images: [data], size: '2K' },
      'kling-v2-1',
      'generations',
      { image: 'QUJD', n: 1, resolution: '2k' },
    ],
    [
      'of several images',
      { images: [link, data], size: '4k' },
      'kling-image-o1',
      'omni-image',
      { image_list: [{ image: a }, { image: 'QUJD' }], n: 1, resolution: '4k' },
    ],
  ])('%s', async (_, request, model, ...[service, body]) => {
    const upstream = canned({ json: fixture('kling/legacy-created') });
    expect(imageIssue(imageTask, imageRequest(request), model)).toBeUndefined();
    const { operation } = await imageTask.submit(
      imageRequest(request),
      submitContext({ model, request: upstream.request }),
    );
    expect(operation).toEqual({ id: '831922345719271433', path: `/v1/images/${service}` });
    expect(upstream.sent[0]?.json).toEqual({
      model_name: model,
      prompt: 'a red cube',
      external_task_id: 'mediary-t1-1',
      ...body,
    });
  });

  it.each<[string, Partial<ImageRequest>, string, string | undefined]>([
    ['two images', { images: [link, link] }, 'kling-v3', 'image'],
    ['a mask', { images: [link], mask: data }, 'kling-v3', 'mask'],
    ['ten', { n: 10 }, 'kling-v3', 'n'],
    [
      'what to leave out of an image',
      { images: [link], extra: { negative_prompt: 'x' } },
      'kling-v3',
      'negative_prompt',
    ],
    ['a ratio that is not sold', { size: '1000x700' }, 'kling-v3', 'size'],
    ['pixels between the classes', { size: '1500x1500' }, 'kling-v3', 'size'],
    ['4k of a plain model', { size: '4K' }, 'kling-v3', 'size'],
    ['2048x2048', { size: '2048x2048' }, 'kling-v3', undefined],
    ['a size in words', { size: 'auto' }, 'kling-v3', 'size'],
    ['a long prompt', { prompt: 'x'.repeat(2501) }, 'kling-v3', 'prompt'],
  ])('check: %s', (_, request, model, param) => {
    expect(imageIssue(imageTask, imageRequest(request), model)?.param).toBe(param);
  });
});
