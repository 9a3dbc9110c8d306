import { describe, expect, it } from 'vitest';
import type { ImageInput, ImageRequest } from '../../../src/models/request.ts';
import { dashscope } from '../../../src/providers/dashscope/index.ts';
import { canned, fixture, imageIssue, imageRequest, providerContext, upstreamError } from '../support.ts';
import { videoIssue, videoRequest } from '../support.ts';
import type { CannedAnswer } from '../support.ts';
import { imageTables, videoTables } from '../vendor-tables.ts';

const { video, image, imageTask } = dashscope;
if (video === undefined || image === undefined || imageTask === undefined)
  throw new Error('a capability is missing');

const operation = { id: '0385dc79-5ff8-4d82-bcb6-0123456789ab' };
const picture = 'https://ex.com/a.png';
const picture2 = 'https://ex.com/b.png';
const clip = 'https://ex.com/a.mp4';
const sound = 'https://ex.com/a.wav';
const link: ImageInput = { form: 'url', url: picture };
const data: ImageInput = { form: 'data', mediaType: 'image/png', base64: 'QUJD' };

const created = { json: fixture('dashscope/created') };
const videos = videoTables(video, { model: 'wan2.6-t2v', operation, created });
const { statusOf } = videos;
const images = imageTables(imageTask, { operation, created });

describe('a video', () => {
  it('is a task with its own header', async () => {
    const { submitted, sent, path } = await videos.sentFor({});
    expect(submitted).toEqual({ operation, traceId: '4909100c-7b5a-9f92-bfe5-0123456789ab' });
    expect(path).toBe('/services/aigc/video-generation/video-synthesis');
    expect(sent?.headers).toEqual({ authorization: 'Bearer test-key', 'x-dashscope-async': 'enable' });
  });

  videos.sends([
    ['of text has a size with an asterisk', { resolution: '720p', ratio: '9:16', duration: 5, seed: 7, watermark: false, generateAudio: true }, 'wan2.6-t2v',
      { input: { prompt: 'a fox in the snow' }, parameters: { size: '720*1280', duration: 5, seed: 7, watermark: false, audio: true } }],
    ['of text without a ratio is wide', { resolution: '1080p' }, 'wan2.5-t2v-preview', { input: { prompt: 'a fox in the snow' }, parameters: { size: '1920*1080' } }],
    ['of one image has a resolution in upper case', { firstFrame: picture, audios: [sound], resolution: '720p', ratio: 'adaptive' },
      'wan2.6-i2v', { input: { prompt: 'a fox in the snow', img_url: picture, audio_url: sound }, parameters: { resolution: '720P' } }],
    [
      'of two frames of the newest model is a list',
      { firstFrame: picture, lastFrame: picture2, resolution: '720p', ratio: '16:9' },
      'wan2.7-i2v',
      {
        input: {
          prompt: 'a fox in the snow',
          media: [
            { type: 'first_frame', url: picture },
            { type: 'last_frame', url: picture2 },
          ],
        },
        parameters: { resolution: '720P' },
      },
    ],
    ['of references of the newest model is a list', { references: [picture], videos: [clip] }, 'wan2.7-r2v',
      { input: { prompt: 'a fox in the snow', media: [{ type: 'reference_image', url: picture }, { type: 'reference_video', url: clip }] }, parameters: {} }],
    ['of references of an older model names addresses', { videos: [clip] }, 'wan2.6-r2v',
      { input: { prompt: 'a fox in the snow', reference_urls: [clip] }, parameters: {} }],
    [
      'takes what metadata adds, and nothing that it would override',
      {
        extra: {
          negative_prompt: 'rain',
          prompt_extend: false,
          shot_type: 'multi',
          model: 'x',
          prompt: 'x',
          size: '1*1',
          input: {},
          parameters: {},
          duration: 15,
          callback_url: 'https://x.example/',
        },
      },
      'wan2.6-t2v',
      {
        input: { prompt: 'a fox in the snow', negative_prompt: 'rain' },
        parameters: { prompt_extend: false, shot_type: 'multi' },
      },
    ],
  ], (model) => ({ model })); // prettier-ignore

  it('of first and last frame has its own path', async () => {
    const request = { firstFrame: picture, lastFrame: picture2 } as const;
    const { path, json } = await videos.sentFor(request, 'wan2.2-kf2v-flash');
    expect(path).toBe('/services/aigc/image2video/video-synthesis');
    expect(json?.['input']).toMatchObject({ first_frame_url: picture, last_frame_url: picture2 });
  });

  videos.checks([
    ['no image', {}, 'wan2.6-i2v', 'images'],
    ['one frame for two', { firstFrame: picture }, 'wan2.2-kf2v-flash', 'images'],
    ['text for references', {}, 'wan2.6-r2v', 'images'],
    ['a resolution that is not there', { resolution: '4k' }, 'wan2.6-t2v', 'resolution'],
    ['7 s of 2.5', { duration: 7 }, 'wan2.5-t2v-preview', 'duration'],
    ['10 s of 2.2', { duration: 10 }, 'wan2.2-t2v-plus', 'duration'],
    ['any length', { duration: 'auto' }, 'wan2.6-t2v', 'duration'],
    ['a ratio without a size', { resolution: '480p', ratio: '4:3' }, 'wan2.6-t2v', 'ratio'],
    ['a ratio with a size', { resolution: '720p', ratio: '4:3' }, 'wan2.6-t2v', undefined],
    ['what is not to be seen, not as text', { extra: { negative_prompt: 1 } }, 'wan2.6-t2v', 'metadata.negative_prompt'],
  ]); // prettier-ignore

  videos.sends([
    [
      'two frames of 3.0',
      { firstFrame: picture, lastFrame: picture2, resolution: '720p', ratio: '16:9' },
      'wan3.0-video',
      {
        input: {
          prompt: 'a fox in the snow',
          media: [
            { type: 'first_frame', url: picture },
            { type: 'last_frame', url: picture2 },
          ],
        },
        parameters: { resolution: '720P', ratio: '16:9' },
      },
    ],
    [
      'references of 3.0, of a length and shape that the model chooses',
      {
        references: [picture],
        videos: [clip],
        audios: [sound],
        duration: 'auto',
        ratio: 'adaptive',
      },
      'wan3.0-video-prime',
      {
        input: {
          prompt: 'a fox in the snow',
          media: [
            { type: 'reference_image', url: picture },
            { type: 'reference_video', url: clip },
            { type: 'reference_audio', url: sound },
          ],
        },
        parameters: { duration: -1 },
      },
    ],
    ['sound for text of 2.7', { audios: [sound], resolution: '1080p' }, 'wan2.7-t2v',
      { input: { prompt: 'a fox in the snow', audio_url: sound }, parameters: { resolution: '1080P' } }],
    ['a first frame of HappyHorse, which has no switch for sound', { firstFrame: picture, duration: 3, generateAudio: false }, 'happyhorse-1.1-i2v',
      { input: { prompt: 'a fox in the snow', media: [{ type: 'first_frame', url: picture }] }, parameters: { duration: 3 } }],
  ], (model) => ({ model })); // prettier-ignore

  const references = (count: number) => Array.from({ length: count }, () => picture);
  videos.checks([
    ['31 s of 3.0', { duration: 31 }, 'wan3.0-video', 'duration'],
    ['480p of 2.7', { resolution: '480p' }, 'wan2.7-t2v', 'resolution'],
    ['six references of 2.7', { references: references(5), videos: [clip] }, 'wan2.7-r2v', 'images'],
    ['2 s of HappyHorse', { duration: 2 }, 'happyhorse-1.1-t2v', 'duration'],
    ['nine of HappyHorse', { references: references(9) }, 'happyhorse-1.1-r2v', undefined],
    ['an edit', { videos: [clip] }, 'wan2.7-videoedit', 'model'],
  ]);

  it('that succeeded has its facts, and a link that is valid for a day', async () => {
    expect(await statusOf({ json: fixture('dashscope/video-succeeded') })).toEqual({
      state: 'succeeded',
      items: [{ url: 'https://files.example.com/a.mp4', expiresAt: Date.UTC(2025, 6, 28, 13, 9, 33) / 1000 }],
      facts: { durationSeconds: 5, resolution: '720p' },
    });
    expect(await statusOf({ json: fixture('dashscope/video-succeeded-new') })).toMatchObject({
      items: [{ expiresAt: 1_753_794_573 }],
      facts: { durationSeconds: 5, resolution: '720p', ratio: '16:9', size: '1280x720' },
    });
  });

  videos.readsPart([
    ...['RUNNING', 'SUSPENDED', 'SOMETHING'].map((word) => [word, { json: { output: { task_id: 't', task_status: word } } }, { state: 'pending', phase: 'running' }] as const),
    ['PENDING', { json: { output: { task_id: 't', task_status: 'PENDING' } } }, { state: 'pending', phase: 'submitted' }],
    ['FAILED', { json: { output: { task_id: 't', task_status: 'FAILED' } } }, { state: 'failed', code: 'failed' }],
    ['CANCELED', { json: { output: { task_id: 't', task_status: 'CANCELED' } } }, { state: 'failed', code: 'upstream_cancelled' }],
  ]); // prettier-ignore

  it.each<[string, object, object]>([
    ['text', { duration: 5, video_count: 1 }, { durationSeconds: 5 }],
    ['the newer models', { duration: 5, input_video_duration: 0, output_video_duration: 5 }, { durationSeconds: 5, inputSeconds: 0 }],
    ['a reference video, whose seconds are billed too', { duration: 10, input_video_duration: 5, output_video_duration: 5 }, { durationSeconds: 5, inputSeconds: 5 }],
    ['the legacy models', { video_duration: 5 }, { durationSeconds: 5 }],
    ['quoted numbers', { duration: '7.5', output_video_duration: '5' }, { durationSeconds: 5, inputSeconds: 2.5 }],
    ['nothing that is known', { seconds: 5 }, {}],
  ])('is charged by what the vendor bills: %s', async (_, usage, facts) => {
    const output = { task_id: 't', task_status: 'SUCCEEDED', video_url: 'https://files.example.com/a.mp4' };
    const reported = await statusOf({ json: { output, usage } });
    expect(reported).toMatchObject({ state: 'succeeded' });
    expect(reported).toHaveProperty('facts', facts);
  }); // prettier-ignore

  videos.renders([
    ['text', {}, 'wan2.6-t2v', { resolutions: ['720p', '1080p'], seconds: { min: 5, max: 5 } }],
    ['a frame', { firstFrame: picture, resolution: '720p', duration: 5 }, 'wan2.6-i2v', { openRatio: true }],
    ['a model of tomorrow', { resolution: '720p', duration: 'auto' }, 'wan9-x', { seconds: { min: 2, max: 30 } }],
    ['what is named', { resolution: '720p', duration: 9 }, 'wan3.0-video', {}],
  ]); // prettier-ignore

  it('of an unknown model accepts any input', async () => {
    const request = {
      references: references(99),
      audios: [sound],
      resolution: '8k',
      ratio: '2:1',
      duration: 99,
    };
    for (const model of ['wan9-x', 'wan2.2-r2v', 'something-t2v']) {
      expect(videoIssue(video, videoRequest(request), model)).toBeUndefined();
      const { json } = await videos.sentFor(request, model);
      expect(json).toMatchObject({
        input: { media: expect.objectContaining({ length: 100 }) },
        parameters: { resolution: '8K', ratio: '2:1', duration: 99 },
      });
    }
  });

  it('of a list is reported if it has not ended, and the others are polled individually', async () => {
    const row = (task_id: string, status: unknown) => ({ task_id, status });
    const data = [
      row('a', 'PENDING'),
      row('b', 'RUNNING'),
      row('c', 'SUSPENDED'),
      row('d', 'SOMETHING'),
      row('e', 'SUCCEEDED'),
      row('f', 'FAILED'),
      row('g', 'CANCELED'),
      row('h', 'UNKNOWN'),
      row('i', 7),
      'no row',
      row('other', 'RUNNING'),
    ];
    const upstream = canned({ json: { data } });
    const asked = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'missing'].map((id) => ({ id }));
    const found = await video.list?.(asked, providerContext({ request: upstream.request }));
    expect(upstream.sent[0]?.url).toBe('https://upstream.example/api/v3/tasks/?page_no=1&page_size=100');
    expect(Object.fromEntries(found ?? [])).toEqual({
      a: { state: 'pending', phase: 'submitted' },
      b: { state: 'pending', phase: 'running' },
      c: { state: 'pending', phase: 'running' },
      d: { state: 'pending', phase: 'running' },
    });
  });

  it.each<[CannedAnswer, string]>([
    [{ json: {} }, 'unreadable_answer'],
    [{ status: 429, json: { code: 'Throttling', message: 'm' } }, 'Throttling'],
  ])('an invalid list: %j', async (answer, code) => {
    const listed = video.list?.([operation], providerContext({ request: canned(answer).request }));
    expect((await upstreamError(listed ?? Promise.resolve())).code).toBe(code);
  });

  it('failed has the code that is reported only here', async () => {
    const failed = { state: 'failed', code: 'InvalidParameter', message: 'The size is not match' } as const;
    expect(await statusOf({ json: fixture('dashscope/failed') })).toEqual({
      ...failed,
      failure: { class: 'invalid_input' },
      unbilled: true,
    });
  });

  videos.readsNoState([
    ['a job that it does not know', { json: { output: { task_status: 'UNKNOWN' } } }, true, 'UNKNOWN'],
    [
      'a success without a file',
      { json: { output: { task_status: 'SUCCEEDED' } } },
      false,
      'unreadable_answer',
    ],
    ['an empty answer', { json: {} }, false, 'unreadable_answer'],
    ['trouble', { status: 500, json: { code: 'InternalError', message: 'm' } }, false, 'InternalError'],
    ['too fast', { status: 429, json: { code: 'Throttling', message: 'm' } }, false, 'Throttling'],
  ]);

  videos.cancels(
    [
      ['a waiting job', { json: { request_id: 'r' } }, 'cancelled'],
      ['a running job', { status: 400, json: { code: 'UnsupportedOperation', message: 'm' } }, 'refused'],
    ],
    ([sent]) =>
      expect(sent).toMatchObject({
        method: 'POST',
        url: `https://upstream.example/api/v3/tasks/${operation.id}/cancel`,
      }),
  );
});

videos.isRefused([
  ['a parameter', { status: 400, json: { code: 'InvalidParameter', message: 'm' } }, 'rejected', 'InvalidParameter'],
  ['the quota', { status: 429, json: { code: 'Throttling.AllocationQuota', message: 'm' } }, 'unavailable', 'Throttling.AllocationQuota'],
  ['no id', { json: { output: {} } }, 'ambiguous', 'unreadable_answer'],
]); // prettier-ignore

describe('an image', () => {
  const now = 'qwen-image-edit';
  const later = 'wan2.5-t2i-preview';

  it('of a model that responds synchronously', async () => {
    const headers = { date: 'Tue, 29 Jul 2025 13:09:33 GMT' };
    const upstream = canned({ headers, json: fixture('dashscope/images-now') });
    const request = imageRequest({
      operation: 'edit',
      images: [link, data],
      size: '1328x1328',
      extra: { negative_prompt: 'rain', seed: 1, other: 2 },
    });
    const result = await image.generate(request, providerContext({ model: now, request: upstream.request }));
    expect(upstream.sent[0]).toMatchObject({
      url: 'https://upstream.example/api/v3/services/aigc/multimodal-generation/generation',
      headers: { authorization: 'Bearer test-key' },
      json: {
        model: now,
        input: {
          messages: [
            {
              role: 'user',
              content: [{ image: picture }, { image: 'data:image/png;base64,QUJD' }, { text: 'a red cube' }],
            },
          ],
        },
        parameters: { negative_prompt: 'rain', seed: 1, size: '1328*1328' },
      },
    });
    expect(upstream.sent[0]?.headers).not.toHaveProperty('x-dashscope-async');
    expect(upstream.sent[0]?.json?.['parameters']).not.toHaveProperty('other');
    expect(result).toMatchObject({
      images: [{ url: 'https://files.example.com/now.png' }],
      facts: { images: 1, size: '1328x1328' },
    });
    expect(result.images[0]?.expiresAt).toBe(Date.UTC(2025, 6, 30, 13, 9, 33) / 1000);
  });

  it('that is missing from the response may have been rendered', async () => {
    const request = canned({
      json: { output: { choices: [{ message: { content: [{ text: 'no' }] } }] } },
    }).request;
    const error = await upstreamError(
      image.generate(imageRequest(), providerContext({ model: now, request })),
    );
    expect(error.outcome).toBe('ambiguous');
  });

  images.sends([
    ['an image of a model that answers with a task', { n: 3, size: '1024x768', extra: { negative_prompt: 'rain', watermark: false } }, later,
      '/text2image/image-synthesis', { input: { negative_prompt: 'rain', prompt: 'a red cube' }, parameters: { watermark: false, size: '1024*768', n: 3 } }],
  ], (model) => ({ model }), '/services/aigc'); // prettier-ignore

  it('is edited by a task', async () => {
    expect(await images.sentFor({ images: [link, data] }, 'wan2.5-i2i-preview')).toMatchObject({
      path: '/services/aigc/image2image/image-synthesis',
      json: { input: { images: [picture, 'data:image/png;base64,QUJD'] } },
    });
    expect(await images.sentFor({ images: [link], mask: data }, 'wanx2.1-imageedit')).toMatchObject({
      json: {
        input: {
          function: 'description_edit_with_mask',
          base_image_url: picture,
          mask_image_url: 'data:image/png;base64,QUJD',
        },
      },
    });
  });

  it('of a task counts the rendered images', async () => {
    expect(await images.statusOf({ json: fixture('dashscope/images-succeeded') })).toEqual({
      state: 'succeeded',
      items: [{ url: 'https://files.example.com/1.png', expiresAt: Date.UTC(2025, 6, 28, 13, 9, 33) / 1000 }],
      facts: { images: 1 },
    });
  });

  it('of a task in which every image was rejected has failed', async () => {
    const results = [{ code: 'DataInspectionFailed', message: 'no' }];
    expect(await images.statusOf({ json: { output: { task_status: 'SUCCEEDED', results } } })).toEqual({
      state: 'failed',
      code: 'DataInspectionFailed',
      message: 'no',
      failure: { class: 'moderation_input' },
    });
  });

  it.each<[string, string, boolean]>([
    ['qwen-image', 'image', true],
    ['qwen-image-plus', 'image', true],
    ['wan2.6-t2i', 'image', true],
    ['wan2.5-t2i-preview', 'imageTask', false],
    ['wanx2.1-t2i-turbo', 'imageTask', false],
  ])('%s is served by %s', (model, _, synchronous) => {
    expect(imageIssue(image, imageRequest(), model) === undefined).toBe(synchronous);
    expect(imageIssue(imageTask, imageRequest(), model) === undefined).toBe(!synchronous);
  });

  it.each<[string, Partial<ImageRequest>, string, string]>([
    ['a mask', { images: [link], mask: data }, now, 'mask'],
    ['no image to edit', {}, now, 'image'],
    ['an image for a text model', { images: [link] }, 'qwen-image', 'image'],
    ['four images', { images: [link, link, link, link] }, now, 'image'],
    ['a size in words', { images: [link], size: 'auto' }, now, 'size'],
    ['an image for a text task', { images: [link] }, later, 'image'],
    ['five images of a task', { n: 5 }, later, 'n'],
    ['a mask of a task', { images: [link], mask: data }, 'wan2.5-i2i-preview', 'mask'],
    ['two images for one', { images: [link, link] }, 'wanx2.1-imageedit', 'image'],
  ])('check: %s', (_, request, model, param) => {
    const asked = imageRequest(request);
    const sync = imageIssue(image, asked, model);
    expect((sync?.param === 'model' ? imageIssue(imageTask, asked, model) : sync)?.param).toBe(param);
  });
});
