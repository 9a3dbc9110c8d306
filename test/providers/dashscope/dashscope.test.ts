import { describe, expect, it } from 'vitest';
import type { ImageInput, ImageRequest, VideoRequest } from '../../../src/models/request.ts';
import { dashscope } from '../../../src/providers/dashscope/index.ts';
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

async function submitVideo(
  request: Partial<VideoRequest>,
  model: string,
  answer: CannedAnswer = { json: fixture('dashscope/created') },
) {
  const upstream = canned(answer);
  const submitted = await video?.submit(
    videoRequest(request),
    submitContext({ model, request: upstream.request }),
  );
  const [sent] = upstream.sent;
  return { submitted, url: sent?.url.split('/api/v3')[1], sent, json: sent?.json };
}

describe('a video', () => {
  it('is a task of its own header', async () => {
    const { submitted, sent, url } = await submitVideo({}, 'wan2.6-t2v');
    expect(submitted).toEqual({ operation, traceId: '4909100c-7b5a-9f92-bfe5-0123456789ab' });
    expect(url).toBe('/services/aigc/video-generation/video-synthesis');
    expect(sent?.headers).toEqual({ authorization: 'Bearer test-key', 'x-dashscope-async': 'enable' });
  });

  it.each<[string, Partial<VideoRequest>, string, object]>([
    [
      'of text has a size with an asterisk',
      { resolution: '720p', ratio: '9:16', duration: 5, seed: 7, watermark: false, generateAudio: true },
      'wan2.6-t2v',
      {
        input: { prompt: 'a fox in the snow' },
        parameters: { size: '720*1280', duration: 5, seed: 7, watermark: false, audio: true },
      },
    ],
    [
      'of text without a ratio is wide',
      { resolution: '1080p' },
      'wan2.5-t2v-preview',
      { input: { prompt: 'a fox in the snow' }, parameters: { size: '1920*1080' } },
    ],
    [
      'of one image has a resolution in upper case',
      { firstFrame: picture, audios: [sound], resolution: '720p', ratio: 'adaptive' },
      'wan2.6-i2v',
      {
        input: { prompt: 'a fox in the snow', img_url: picture, audio_url: sound },
        parameters: { resolution: '720P' },
      },
    ],
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
    [
      'of references of the newest model is a list',
      { references: [picture], videos: [clip] },
      'wan2.7-r2v',
      {
        input: {
          prompt: 'a fox in the snow',
          media: [
            { type: 'reference_image', url: picture },
            { type: 'reference_video', url: clip },
          ],
        },
        parameters: {},
      },
    ],
    [
      'of references of an older model names addresses',
      { videos: [clip] },
      'wan2.6-r2v',
      { input: { prompt: 'a fox in the snow', reference_urls: [clip] }, parameters: {} },
    ],
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
  ])('%s', async (_, request, model, body) => {
    expect(videoIssue(video, videoRequest(request), model)).toBeUndefined();
    expect((await submitVideo(request, model)).json).toEqual({ model, ...body });
  });

  it('of first and last frame has a path of its own', async () => {
    const request = { firstFrame: picture, lastFrame: picture2 } as const;
    const { url, json } = await submitVideo(request, 'wan2.2-kf2v-flash');
    expect(url).toBe('/services/aigc/image2video/video-synthesis');
    expect(json?.['input']).toMatchObject({ first_frame_url: picture, last_frame_url: picture2 });
  });

  it.each<[string, Partial<VideoRequest>, string, string | undefined]>([
    ['text', {}, 'wan2.6-t2v', undefined],
    ['an image for text', { references: [picture] }, 'wan2.6-t2v', 'images'],
    ['no image', {}, 'wan2.6-i2v', 'images'],
    ['two references', { references: [picture, picture2] }, 'wan2.6-i2v', 'images'],
    ['two frames of an older model', { firstFrame: picture, lastFrame: picture2 }, 'wan2.6-i2v', 'images'],
    ['one frame for two', { firstFrame: picture }, 'wan2.2-kf2v-flash', 'images'],
    ['a video for an image', { firstFrame: picture, videos: [clip] }, 'wan2.6-i2v', 'videos'],
    ['sound for an old model', { firstFrame: picture, audios: [sound] }, 'wan2.2-i2v-plus', 'audios'],
    ['text for references', {}, 'wan2.6-r2v', 'images'],
    ['a resolution that is not there', { resolution: '4k' }, 'wan2.6-t2v', 'resolution'],
    ['a ratio that is not there', { ratio: '21:9' }, 'wan2.6-t2v', 'ratio'],
    ['a ratio that follows the image', { firstFrame: picture, ratio: '21:9' }, 'wan2.6-i2v', undefined],
    ['7 s of 2.5', { duration: 7 }, 'wan2.5-t2v-preview', 'duration'],
    ['10 s of 2.5', { duration: 10 }, 'wan2.5-t2v-preview', undefined],
    ['10 s of 2.2', { duration: 10 }, 'wan2.2-t2v-plus', 'duration'],
    ['any length', { duration: 'auto' }, 'wan2.6-t2v', 'duration'],
    ['a draft', { draft: true }, 'wan2.6-t2v', 'metadata.draft'],
    ['tools', { tools: [] }, 'wan2.6-t2v', 'metadata.tools'],
    ['sound of an old model', { generateAudio: true }, 'wan2.2-t2v-plus', 'metadata.generate_audio'],
    ['a negative seed', { seed: -1 }, 'wan2.6-t2v', 'metadata.seed'],
    ['a ratio without a size', { resolution: '480p', ratio: '4:3' }, 'wan2.6-t2v', 'ratio'],
    ['a ratio with a size', { resolution: '720p', ratio: '4:3' }, 'wan2.6-t2v', undefined],
    [
      'what is not to be seen, not as text',
      { extra: { negative_prompt: 1 } },
      'wan2.6-t2v',
      'metadata.negative_prompt',
    ],
  ])('check: %s', (_, request, model, param) => {
    expect(videoIssue(video, videoRequest(request), model)?.param).toBe(param);
  });

  it.each<[string, Partial<VideoRequest>, string, object]>([
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
    [
      'sound for text of 2.7',
      { audios: [sound], resolution: '1080p' },
      'wan2.7-t2v',
      { input: { prompt: 'a fox in the snow', audio_url: sound }, parameters: { resolution: '1080P' } },
    ],
    [
      'a first frame of HappyHorse, which has no switch for sound',
      { firstFrame: picture, duration: 3, generateAudio: false },
      'happyhorse-1.1-i2v',
      {
        input: { prompt: 'a fox in the snow', media: [{ type: 'first_frame', url: picture }] },
        parameters: { duration: 3 },
      },
    ],
  ])('sends %s', async (_, request, model, body) => {
    expect(videoIssue(video, videoRequest(request), model)).toBeUndefined();
    const { url, json } = await submitVideo(request, model);
    expect(url).toBe('/services/aigc/video-generation/video-synthesis');
    expect(json).toEqual({ model, ...body });
  });

  const references = (count: number) => Array.from({ length: count }, () => picture);
  it.each<[string, Partial<VideoRequest>, string, string | undefined]>([
    ['30 s of 3.0', { duration: 30 }, 'wan3.0-video', undefined],
    ['31 s of 3.0', { duration: 31 }, 'wan3.0-video', 'duration'],
    ['ten images of 3.0', { references: references(10) }, 'wan3.0-video', undefined],
    ['eleven images of 3.0', { references: references(11) }, 'wan3.0-video', 'images'],
    ['frames and a video of 3.0', { firstFrame: picture, videos: [clip] }, 'wan3.0-video', 'videos'],
    ['480p of 2.7', { resolution: '480p' }, 'wan2.7-t2v', 'resolution'],
    ['six references of 2.7', { references: references(5), videos: [clip] }, 'wan2.7-r2v', 'images'],
    ['2 s of HappyHorse', { duration: 2 }, 'happyhorse-1.1-t2v', 'duration'],
    ['nine of HappyHorse', { references: references(9) }, 'happyhorse-1.1-r2v', undefined],
    ['a video of HappyHorse', { references: [picture], videos: [clip] }, 'happyhorse-1.1-r2v', 'videos'],
    ['sound of HappyHorse', { generateAudio: true }, 'happyhorse-1.1-t2v', 'metadata.generate_audio'],
    ['an edit', { videos: [clip] }, 'wan2.7-videoedit', 'model'],
  ])('check: %s', (_, request, model, param) => {
    expect(videoIssue(video, videoRequest(request), model)?.param).toBe(param);
  });

  it('that succeeded has its facts, and a link that lives a day', async () => {
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

  it.each<[string, object]>([
    ['PENDING', { state: 'pending', phase: 'submitted' }],
    ['RUNNING', { state: 'pending', phase: 'running' }],
    ['SUSPENDED', { state: 'pending', phase: 'running' }],
    ['SOMETHING', { state: 'pending', phase: 'running' }],
    ['FAILED', { state: 'failed', code: 'failed' }],
    ['CANCELED', { state: 'failed', code: 'upstream_cancelled' }],
  ])('the status %s', async (task_status, expected) => {
    expect(await statusOf({ json: { output: { task_id: 't', task_status } } })).toMatchObject(expected);
  });

  it.each<[string, object, object]>([
    ['text', { duration: 5, video_count: 1 }, { durationSeconds: 5 }],
    [
      'the newer models',
      { duration: 5, input_video_duration: 0, output_video_duration: 5 },
      { durationSeconds: 5, inputSeconds: 0 },
    ],
    [
      'a reference video, whose seconds are billed too',
      { duration: 10, input_video_duration: 5, output_video_duration: 5 },
      { durationSeconds: 5, inputSeconds: 5 },
    ],
    ['the legacy models', { video_duration: 5 }, { durationSeconds: 5 }],
    [
      'quoted numbers',
      { duration: '7.5', output_video_duration: '5' },
      { durationSeconds: 5, inputSeconds: 2.5 },
    ],
    ['nothing that is known', { seconds: 5 }, {}],
  ])('bills by what the vendor bills: %s', async (_, usage, facts) => {
    const output = { task_id: 't', task_status: 'SUCCEEDED', video_url: 'https://files.example.com/a.mp4' };
    expect(await statusOf({ json: { output, usage } })).toMatchObject({ state: 'succeeded' });
    const reported = await statusOf({ json: { output, usage } });
    expect(reported).toHaveProperty('facts', facts);
  });

  it.each<[string, Partial<VideoRequest>, string, object]>([
    ['text', {}, 'wan2.6-t2v', { resolutions: ['720p', '1080p'], seconds: { min: 5, max: 5 } }],
    ['a frame', { firstFrame: picture, resolution: '720p', duration: 5 }, 'wan2.6-i2v', { openRatio: true }],
    [
      'a model of tomorrow',
      { resolution: '720p', duration: 'auto' },
      'wan9-x',
      { seconds: { min: 2, max: 30 } },
    ],
    ['what is named', { resolution: '720p', duration: 9 }, 'wan3.0-video', {}],
  ])('%s may become', (_, request, model, expected) => {
    expect(videoOutput(video, videoRequest(request), model)).toEqual(expected);
  });

  it('of a model that the table has not heard of takes what it is given', async () => {
    const request = {
      references: references(99),
      audios: [sound],
      resolution: '8k',
      ratio: '2:1',
      duration: 99,
    };
    for (const model of ['wan9-x', 'wan2.2-r2v', 'something-t2v']) {
      expect(videoIssue(video, videoRequest(request), model)).toBeUndefined();
      const { json } = await submitVideo(request, model);
      expect(json).toMatchObject({
        input: { media: expect.objectContaining({ length: 100 }) },
        parameters: { resolution: '8K', ratio: '2:1', duration: 99 },
      });
    }
  });

  it('of a list: those that have not ended; the others are asked for alone', async () => {
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
  ])('a list that is none: %j', async (answer, code) => {
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

  it.each<[CannedAnswer, boolean, string]>([
    [{ json: { output: { task_status: 'UNKNOWN' } } }, true, 'UNKNOWN'],
    [{ json: { output: { task_status: 'SUCCEEDED' } } }, false, 'unreadable_answer'],
    [{ json: {} }, false, 'unreadable_answer'],
    [{ status: 500, json: { code: 'InternalError', message: 'm' } }, false, 'InternalError'],
    [{ status: 429, json: { code: 'Throttling', message: 'm' } }, false, 'Throttling'],
  ])('%j reports no state', async (answer, gone, code) => {
    const error = await upstreamError(statusOf(answer));
    expect([error.gone, error.code]).toEqual([gone, code]);
  });

  function statusOf(answer: CannedAnswer) {
    return (
      video?.status(operation, providerContext({ request: canned(answer).request })) ??
      Promise.reject(new Error())
    );
  }

  it.each<[CannedAnswer, string]>([
    [{ json: { request_id: 'r' } }, 'cancelled'],
    [{ status: 400, json: { code: 'UnsupportedOperation', message: 'm' } }, 'refused'],
  ])('cancel: %j is %s', async (answer, expected) => {
    const upstream = canned(answer);
    expect(await video.cancel?.(operation, providerContext({ request: upstream.request }))).toBe(expected);
    expect(upstream.sent[0]).toMatchObject({
      method: 'POST',
      url: `https://upstream.example/api/v3/tasks/${operation.id}/cancel`,
    });
  });
});

it.each([
  [400, 'InvalidParameter', 'rejected'],
  [400, 'InvalidParameter.DataInspection', 'rejected'],
  [400, 'DataInspectionFailed', 'rejected'],
  [400, 'IPInfringementSuspect', 'rejected'],
  [400, 'Arrearage', 'unavailable'],
  [401, 'InvalidApiKey', 'unavailable'],
  [403, 'AccessDenied', 'unavailable'],
  [403, 'AccessDenied.Unpurchased', 'unavailable'],
  [403, 'Model.AccessDenied', 'unavailable'],
  [403, 'AllocationQuota.FreeTierOnly', 'unavailable'],
  [404, 'ModelNotFound', 'unavailable'],
  [429, 'Throttling', 'throttled'],
  [429, 'Throttling.RateQuota', 'throttled'],
  [429, 'Throttling.BurstRate', 'throttled'],
  [429, 'Throttling.AllocationQuota', 'unavailable'],
  [500, 'InternalError', 'ambiguous'],
  [500, 'InternalError.Timeout', 'ambiguous'],
  [503, 'ModelUnavailable', 'throttled'],
])('a submit that gets %i %s is %s', async (status, code, outcome) => {
  const json = { request_id: 'r', code, message: 'm' };
  const error = await upstreamError(submitVideo({}, 'wan2.6-t2v', { status, json }));
  expect([error.outcome, error.code]).toEqual([outcome, code]);
});

it.each([[{ json: {} }], [{ json: { output: {} } }], [{ text: '<html>' }]])(
  'a submit without an id is ambiguous: %j',
  async (answer) => {
    expect((await upstreamError(submitVideo({}, 'wan2.6-t2v', answer))).outcome).toBe('ambiguous');
  },
);

describe('an image', () => {
  const now = 'qwen-image-edit';
  const later = 'wan2.5-t2i-preview';

  it('of a model that answers at once', async () => {
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

  it('that is not in the answer may have been made', async () => {
    const request = canned({
      json: { output: { choices: [{ message: { content: [{ text: 'no' }] } }] } },
    }).request;
    const error = await upstreamError(
      image.generate(imageRequest(), providerContext({ model: now, request })),
    );
    expect(error.outcome).toBe('ambiguous');
  });

  const submitImage = async (request: Partial<ImageRequest>, model: string) => {
    const upstream = canned({ json: fixture('dashscope/created') });
    await imageTask.submit(imageRequest(request), submitContext({ model, request: upstream.request }));
    const [sent] = upstream.sent;
    return { url: sent?.url.split('/aigc')[1], json: sent?.json };
  };

  it('of a model that answers with a task', async () => {
    expect(
      await submitImage(
        { n: 3, size: '1024x768', extra: { negative_prompt: 'rain', watermark: false } },
        later,
      ),
    ).toEqual({
      url: '/text2image/image-synthesis',
      json: {
        model: later,
        input: { negative_prompt: 'rain', prompt: 'a red cube' },
        parameters: { watermark: false, size: '1024*768', n: 3 },
      },
    });
  });

  it('is edited by a task', async () => {
    expect(await submitImage({ images: [link, data] }, 'wan2.5-i2i-preview')).toMatchObject({
      url: '/image2image/image-synthesis',
      json: { input: { images: [picture, 'data:image/png;base64,QUJD'] } },
    });
    expect(await submitImage({ images: [link], mask: data }, 'wanx2.1-imageedit')).toMatchObject({
      json: {
        input: {
          function: 'description_edit_with_mask',
          base_image_url: picture,
          mask_image_url: 'data:image/png;base64,QUJD',
        },
      },
    });
  });

  const statusOf = (json: unknown) =>
    imageTask.status(operation, providerContext({ request: canned({ json }).request }));

  it('of a task counts what was made of it', async () => {
    expect(await statusOf(fixture('dashscope/images-succeeded'))).toEqual({
      state: 'succeeded',
      items: [{ url: 'https://files.example.com/1.png', expiresAt: Date.UTC(2025, 6, 28, 13, 9, 33) / 1000 }],
      facts: { images: 1 },
    });
  });

  it('of a task in which every image was refused failed', async () => {
    const results = [{ code: 'DataInspectionFailed', message: 'no' }];
    expect(await statusOf({ output: { task_status: 'SUCCEEDED', results } })).toEqual({
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
