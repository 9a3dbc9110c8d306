import { describe, expect, it } from 'vitest';
import type { ImageRequest, VideoRequest } from '../../../src/models/request.ts';
import { google } from '../../../src/providers/google/index.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import { canned, fixture, imageIssue, imageRequest, providerContext, submitContext } from '../support.ts';
import { upstreamError, videoOutput, videoRequest } from '../support.ts';
import { imageTables, videoTables } from '../vendor-tables.ts';

function partsOf({ video, image }: Provider) {
  if (video === undefined || image === undefined) throw new Error('it makes both');
  return { video, image };
}
const { video, image } = partsOf(google);

const omni = 'gemini-omni-1.1-flash';
const veo = 'veo-3.1-generate-preview';
const onVertex = 'veo-3.1-generate-001@gs://bucket/folder';
const vertexUrl = 'https://l-vertex.example/v1/projects/p/locations/l/publishers/google';
const vertexContext = { baseUrl: vertexUrl, model: onVertex };
const data = 'data:image/png;base64,QUJD';
const interaction = { id: 'v1_ChdpQ' };
const operation = { id: 'models/veo-3.1-generate-preview/operations/abc123' };
const omnis = videoTables(video, {
  model: omni,
  operation: interaction,
  created: { json: fixture('google/interaction-created') },
});
const videos = videoTables(video, {
  model: veo,
  operation,
  created: { json: fixture('google/operation-created') },
});
const inline = { bytesBase64Encoded: 'QUJD', mimeType: 'image/png' };
const url = 'https://i.example/a.webp';
const clip = 'https://i.example/a.mp4';

describe('a submission of Omni', () => {
  it('runs in the background, with its length as a string and our marker as a label', async () => {
    const { submitted, sent, json } = await omnis.sentFor(
      { duration: 5, resolution: '1080p', ratio: '9:16', extra: { negative_prompt: 'x', background: false } },
      omni,
      { callbackUrl: 'https://gw.example/cb' },
    );
    expect(submitted).toMatchObject({ operation: interaction });
    expect(sent).toMatchObject({
      method: 'POST',
      url: 'https://upstream.example/api/v3/interactions',
      headers: { 'x-goog-api-key': 'test-key' },
    });
    expect(json).toEqual({
      model: omni,
      input: 'a fox in the snow',
      background: true,
      response_format: {
        type: 'video',
        delivery: 'uri',
        aspect_ratio: '9:16',
        resolution: '1080p',
        duration: '5s',
      },
      generation_config: { video_config: { task: 'text_to_video' } },
      labels: { task: 'mediary-t1-1' },
      webhook_config: { uris: ['https://gw.example/cb'] },
    });
  });

  it.each<[Partial<VideoRequest>, string, object[]]>([
    [{ firstFrame: data }, 'image_to_video', [{ type: 'image', data: 'QUJD', mime_type: 'image/png' }]],
    [{ references: [url] }, 'reference_to_video', [{ type: 'image', uri: url, mime_type: 'image/webp' }]],
    [{ videos: [clip] }, 'edit', [{ type: 'video', uri: clip, mime_type: 'video/mp4' }]],
    [{ videos: [`${clip}?a`], references: ['https://i.example/a'], extra: { video_task: 'extend' } }, 'extend',
      [{ type: 'image', uri: 'https://i.example/a', mime_type: 'image/jpeg' }, { type: 'video', uri: `${clip}?a`, mime_type: 'video/mp4' }]],
  ])('%j is the task %s', async (over, task, media) => {
    const { json } = await omnis.sentFor(over);
    expect(json).toMatchObject({
      input: [...media, { type: 'text', text: 'a fox in the snow' }],
      generation_config: { video_config: { task } },
    });
  }); // prettier-ignore

  it('takes the shape and the length of an upscale from its video', async () => {
    const asked = { videos: [clip], ratio: '16:9', duration: 5, extra: { video_task: 'upscale' } };
    const { json } = await omnis.sentFor({ ...asked, resolution: '4K' });
    expect(json).toMatchObject({
      response_format: { type: 'video', delivery: 'uri', resolution: '4k' },
      generation_config: { video_config: { task: 'upscale' } },
    });
    expect(JSON.stringify(json)).not.toMatch(/"(?:aspect_ratio|duration)"/);
    expect(videoOutput(video, videoRequest(asked), omni)).toEqual({
      resolutions: ['1080p', '720p', '4k'],
      seconds: { min: 3, max: 15 },
    });
  });

  it('includes what the configuration adds to the table', async () => {
    const { json } = await omnis.sentFor(
      { videos: [clip], extra: { video_task: 'restyle', tier: 'flex', store: false } },
      omni,
      { facts: { parameters: { video_task: { read: true }, tier: { sent_as: 'service_tier' } } } },
    );
    expect(json).toMatchObject({
      service_tier: 'flex',
      generation_config: { video_config: { task: 'restyle' } },
    });
    expect(json).not.toHaveProperty('store');
  });

  it('of Vertex uses the other version, with a token and a folder', async () => {
    const { sent } = await omnis.sentFor({}, `${omni}@gs://bucket/folder`, { baseUrl: vertexUrl });
    expect(sent?.url).toBe('https://l-vertex.example/v1beta1/projects/p/locations/l/interactions');
    expect(sent?.headers).toEqual({ authorization: 'Bearer test-key' });
    expect(sent?.json).toMatchObject({ model: omni, response_format: { gcs_uri: 'gs://bucket/folder' } });
  });
});

describe('a submission of Veo', () => {
  it('contains instances and parameters', async () => {
    const { submitted, path, json } = await videos.sentFor(
      {
        firstFrame: data,
        lastFrame: 'DATA:image/png;BASE64,QUJD',
        duration: 8,
        resolution: '4K',
        ratio: '16:9',
        extra: { negative_prompt: 'rain', resize_mode: 'pad', sampleCount: 4 },
      },
      veo,
      { callbackUrl: 'https://gw.example/cb' },
    );
    expect(submitted).toMatchObject({ operation });
    expect(path).toBe('/models/veo-3.1-generate-preview:predictLongRunning');
    expect(json).toEqual({
      instances: [{ prompt: 'a fox in the snow', image: inline, lastFrame: inline }],
      parameters: {
        negativePrompt: 'rain',
        sampleCount: 1,
        aspectRatio: '16:9',
        resolution: '4k',
        durationSeconds: 8,
      },
      webhookConfig: { uris: ['https://gw.example/cb'] },
    });
  });

  it('of Vertex contains a folder, a seed and a switch for sound', async () => {
    const { json, sent } = await videos.sentFor(
      {
        references: [data, 'gs://bucket/a.png'],
        seed: 7,
        generateAudio: false,
        extra: { resize_mode: 'pad', fps: 24, negative_prompt: 'rain' },
      },
      onVertex,
      { baseUrl: vertexUrl, callbackUrl: 'https://gw.example/cb' },
    );
    expect(sent?.headers).toEqual({ authorization: 'Bearer test-key' });
    const references = [inline, { gcsUri: 'gs://bucket/a.png', mimeType: 'image/png' }];
    expect(json).toEqual({
      instances: [
        {
          prompt: 'a fox in the snow',
          referenceImages: references.map((each) => ({ image: each, referenceType: 'asset' })),
        },
      ],
      parameters: {
        resizeMode: 'pad',
        fps: 24,
        negativePrompt: 'rain',
        sampleCount: 1,
        seed: 7,
        generateAudio: false,
        storageUri: 'gs://bucket/folder',
      },
    });
  });

  it('includes what the configuration adds to the table', async () => {
    const { json } = await videos.sentFor(
      { seed: 7, generateAudio: false, extra: { look: 'film', theirs: 1 } },
      veo,
      { facts: { sound: 'choice', fields: { seed: true }, parameters: { look: { sent_as: 'style' } } } },
    );
    expect(json).toMatchObject({
      parameters: { sampleCount: 1, seed: 7, generateAudio: false, style: 'film' },
    });
    expect(JSON.stringify(json)).not.toContain('theirs');
  });

  it('extends a video', async () => {
    const { json } = await videos.sentFor({ videos: [clip] });
    expect(json).toMatchObject({ instances: [{ video: { uri: clip } }] });
  });

  it.each([
    { baseUrl: vertexUrl, model: 'veo-3.1-generate-001' },
    { model: onVertex },
    { baseUrl: vertexUrl, model: omni },
  ])('is not sent if the name does not belong to the service: %j', async (context) => {
    const { request, sent } = canned();
    const error = await upstreamError(video.submit(videoRequest(), submitContext({ request, ...context })));
    expect([error.outcome, error.failure.class, sent.length]).toEqual(['unavailable', 'quota', 0]);
  });
});

describe('check', () => {
  const asked: readonly [string, Partial<VideoRequest>, string | undefined][] = [
    [omni, { duration: 11 }, 'duration'],
    [omni, { ratio: '1:1' }, 'ratio'],
    ['gemini-omni-2', { extra: { video_task: 'edit' } }, 'metadata.video_task'],
    ['veo-3.1-lite-generate-preview', { firstFrame: data, lastFrame: data, resolution: '1080p' }, undefined],
    ['veo-3.1-lite-generate-preview', { resolution: '4k' }, 'resolution'],
    ['veo-3.1-lite-generate-001@gs://b', { resolution: '4k' }, 'resolution'],
    ['veo-4@gs://b', { firstFrame: 'gs://b/a.png', seed: 1, generateAudio: false }, undefined],
    [omni, { videos: [clip], extra: { video_task: 'extend' } }, undefined],
    [omni, { videos: [clip], extra: { video_task: 'other' } }, 'metadata.video_task'],
    [omni, { extra: { video_task: 'edit' } }, 'metadata.video_task'],
    [veo, { duration: 5 }, 'duration'],
    [veo, { firstFrame: url }, 'images'],
    [onVertex, { firstFrame: 'gs://b/a.png' }, undefined],
    [veo, { videos: [clip] }, undefined],
    [veo, { videos: [clip], references: [data] }, 'videos'],
  ];
  videos.checks(asked.map(([model, over, param]) => [JSON.stringify(over), over, model, param]));

  it('knows what is rendered if a request leaves it open', () => {
    expect(videoOutput(video, videoRequest(), omni)).toEqual({
      resolutions: ['720p'],
      seconds: { min: 3, max: 10 },
    });
    expect(videoOutput(video, videoRequest({ resolution: '4k' }), veo)).toEqual({
      seconds: { min: 4, max: 8 },
    });
    expect(videoOutput(video, videoRequest({ duration: 8 }), veo)).toEqual({ resolutions: ['720p'] });
  });
});

describe('an interaction', () => {
  it('that is complete with a video succeeded', async () => {
    expect(await omnis.statusOf({ json: fixture('google/interaction-completed') })).toEqual({
      state: 'succeeded',
      items: [{ url: 'https://upstream.example.com/v1beta/files/abc:download?alt=media' }],
      facts: { usage: { completionTokens: 29_000, totalTokens: 29_270, inputTextTokens: 270 } },
    });
  });

  it('that is complete without one was rejected for its content', async () => {
    expect(await omnis.statusOf({ json: fixture('google/interaction-refused') })).toEqual({
      state: 'failed',
      code: 'no_video',
      message: 'I cannot make this video.',
      failure: { class: 'moderation_output' },
      unbilled: true,
    });
  });

  it('that was billed for a video but contains none is not understood', async () => {
    const usage = { output_tokens_by_modality: [{ modality: 'video', tokens: 9 }] };
    expect((await upstreamError(omnis.statusOf({ json: { status: 'completed', usage } }))).outcome).toBe(
      'ambiguous',
    );
    expect((await upstreamError(omnis.statusOf({ json: {} }))).code).toBe('unreadable_answer');
  });

  it.each([
    ['queued', {}, 'pending', 'submitted'],
    ['in_progress', {}, 'pending', 'running'],
    ['pondering', {}, 'pending', 'running'],
    ['cancelled', {}, 'failed', 'cancelled'],
    ['failed', { error: { code: 'internal', message: 'm' } }, 'failed', 'internal'],
    ['failed', { error: { code: 'SAFETY' } }, 'failed', 'moderation_output'],
    ['failed', { finish_reason: 'SPII', error: { code: 3 } }, 'failed', 'moderation_output'],
    ['failed', { finish_reason: 'PROHIBITED_CONTENT' }, 'failed', 'moderation_output'],
    ['failed', { finish_reason: 'BLOCKLIST' }, 'failed', 'moderation_output'],
    [
      'failed',
      { errors: [{ code: 'https://errors.example/policy', message: 'Blocked for safety.' }] },
      'failed',
      'moderation_output',
    ],
    ['failed', { errors: [{ code: 'https://errors.example/x', message: 'm' }] }, 'failed', 'internal'],
    [
      'failed',
      { steps: [{ type: 'model_output', error: { code: 3, message: 'unsupported input uri type' } }] },
      'failed',
      'invalid_input',
    ],
    [
      'failed',
      {
        steps: [
          {
            type: 'model_output',
            error: { code: 7, message: 'm', details: [{ reason: 'PROHIBITED_CONTENT' }] },
          },
        ],
      },
      'failed',
      'moderation_output',
    ],
    ['incomplete', {}, 'failed', 'internal'],
    ['budget_exceeded', {}, 'failed', 'quota'],
    ['requires_action', {}, 'failed', 'internal'],
  ])('of status %s with %j is %s: %s', async (word, over, state, detail) => {
    const status = await omnis.statusOf({ json: { status: word, ...over } });
    const reported =
      status?.state === 'pending' ? status.phase : status?.state === 'failed' ? status.failure.class : '';
    expect([status?.state, reported]).toEqual([state, detail]);
  });

  it.each([
    [404, 'Not found.', true],
    [400, 'Invalid interaction name.', true],
    [400, 'Request is missing something.', false],
  ])('with response %i %s: gone is %s', async (status, message, gone) => {
    const json = [{ error: { code: 'invalid_request', message } }];
    expect((await upstreamError(omnis.statusOf({ status, json }))).gone).toBe(gone);
  });

  omnis.cancels([
    ['an interaction', { json: {} }, 'cancelled'],
    ['none that has ended', { status: 400, json: { error: { code: 400, message: 'It has ended.', status: 'FAILED_PRECONDITION' } } }, 'refused'],
    ['none that has ended, by the status', { status: 409, json: { error: { code: 409, message: 'It has ended.' } } }, 'refused'],
    ['nothing with a wrong key', { status: 400, json: { error: { message: 'API key not valid.', status: 'INVALID_ARGUMENT' } } }, 'unavailable'],
    ['none that is unknown', { status: 400, json: { error: { message: 'Invalid interaction name.' } } }, 'gone'],
    ['nothing in trouble', { status: 500, json: {} }, 'ambiguous'],
  ], ([sent]) => expect(sent?.url).toBe('https://upstream.example/api/v3/interactions/v1_ChdpQ/cancel')); // prettier-ignore
});

describe('an operation', () => {
  it.each([
    ['operation-created', { state: 'pending', phase: 'running' }],
    ['operation-done', { state: 'succeeded', items: [{ url: 'https://upstream.example.com/v1beta/files/xyz:download?alt=media' }], facts: {} }],
    ['operation-vertex-done', { items: [{ url: 'https://storage.googleapis.com/bucket/folder/6a1/sample%200.mp4' }] }],
    ['operation-filtered',
      { state: 'failed', code: 'rai_filtered', message: 'The video was filtered for its content.', failure: { class: 'moderation_output' } }],
    ['operation-failed', { state: 'failed', code: '13', failure: { class: 'internal' } }],
  ])('%s', async (name, expected) => {
    expect(await videos.statusOf({ json: fixture(`google/${name}`) })).toMatchObject(expected);
  }); // prettier-ignore

  it.each([
    [3, 'Unsupported.', 'invalid_input'],
    [3, 'The prompt violates our usage guidelines.', 'moderation_input'],
    [7, 'Denied.', 'quota'],
    [8, 'Exhausted.', 'capacity'],
    [14, 'Unavailable.', 'capacity'],
    [99, 'New.', 'internal'],
  ])('that failed with %i: %s', async (code, message, expected) => {
    const status = await videos.statusOf({ json: { done: true, error: { code, message } } });
    expect(status).toMatchObject({ state: 'failed', failure: { class: expected } });
  });

  it('reads the other spelling, but not a `done` without a result', async () => {
    const generatedVideos = [{ video: { uri: clip } }];
    expect(await videos.statusOf({ json: { done: true, response: { generatedVideos } } })).toMatchObject({
      items: [{ url: clip }],
    });
    expect((await upstreamError(videos.statusOf({ json: { done: true, response: {} } }))).code).toBe(
      'unreadable_answer',
    );
  });

  it('of Vertex is requested by its name', async () => {
    const name = 'projects/p/locations/l/publishers/google/models/veo-3.1-generate-001/operations/6a1';
    const { sent } = await videos.polled({ json: {} }, { id: name }, vertexContext);
    expect(sent[0]).toMatchObject({
      method: 'POST',
      url: `${vertexUrl}/models/veo-3.1-generate-001:fetchPredictOperation`,
      json: { operationName: name },
    });
  });

  it('that leads elsewhere does not count', async () => {
    const error = await videos.refusalOf({ json: { name: 'models/../secrets/x' } });
    expect(error.outcome).toBe('ambiguous');
  });
});

describe('links', () => {
  it.each([
    ['https://upstream.example/v1beta/files/a:download', {}, { 'x-goog-api-key': 'test-key' }],
    ['https://elsewhere.example/a.mp4', {}, {}],
    ['https://storage.googleapis.com/bucket/a.mp4', {}, {}],
    ['https://storage.googleapis.com/bucket/a.mp4', vertexContext, { authorization: 'Bearer test-key' }],
  ])('to %s with %j get %j', (link, context, expected) => {
    expect(video.linkHeaders?.(link, providerContext(context))).toEqual(expected);
  });
});

videos.hears([
  [{ type: 'interaction.completed' }, true],
  [{ type: 'interaction.failed' }, true],
  [{ event: 'video.generated' }, true],
  [{ type: 'interaction.started' }, false],
  ['text', true],
]);

describe('refusals', () => {
  const refuse = (status: number, name: string, headers = {}) =>
    omnis.refusalOf({ status, json: fixture(`google/${name}`), headers });

  it('state in the body how long to wait, but a header takes precedence', async () => {
    const error = await refuse(429, 'throttled');
    expect([error.outcome, error.retryAfterMs]).toEqual(['throttled', 21_000]);
    expect((await refuse(429, 'throttled', { 'retry-after': '3' })).retryAfterMs).toBe(3_000);
  });

  it('of a daily quota take the channel out of service', async () => {
    const error = await refuse(429, 'daily-quota');
    expect([error.outcome, error.code, error.failure.class]).toEqual([
      'unavailable',
      'RESOURCE_EXHAUSTED.PerDay',
      'quota',
    ]);
  });
});

describe('images', () => {
  const model = 'gemini-nano-banana-2.1';
  const generate = (json: unknown, over = {}) => {
    const { request, sent } = canned({ json });
    return { sent, images: image.generate(imageRequest(over), providerContext({ request, model })) };
  };

  it('are requested with a size and a ratio, and with their references as data', async () => {
    const images = [{ form: 'data', mediaType: 'image/png', base64: 'QUJD' }];
    const { sent, images: made } = generate(fixture('google/image'), {
      size: '2048x1152',
      images,
      extra: { seed: 7, responseModalities: ['TEXT'], n: 4 },
    });
    expect(await made).toEqual({
      images: [{ base64: 'iVBORw0KGgo=' }],
      facts: {
        images: 1,
        usage: { completionTokens: 1120, totalTokens: 1132, inputTextTokens: 12, inputImageTokens: 0 },
      },
      extra: {},
    });
    expect(sent[0]?.url).toBe(`https://upstream.example/api/v3/models/${model}:generateContent`);
    expect(sent[0]?.json).toEqual({
      contents: [
        {
          role: 'user',
          parts: [{ text: 'a red cube' }, { inlineData: { mimeType: 'image/png', data: 'QUJD' } }],
        },
      ],
      generationConfig: {
        responseModalities: ['IMAGE'],
        seed: 7,
        imageConfig: { imageSize: '2K', aspectRatio: '16:9' },
      },
    });
  });

  it.each([
    [{ size: '1K' }, { imageSize: '1K' }],
    [{ size: '4k', extra: { aspect_ratio: '21:9' } }, { imageSize: '4K', aspectRatio: '21:9' }],
    [{ size: '1024x1024' }, { imageSize: '1K', aspectRatio: '1:1' }],
    [{ size: '1344x768' }, { imageSize: '1K', aspectRatio: '16:9' }],
    [{ size: '3072x4096' }, { imageSize: '4K', aspectRatio: '3:4' }],
    [{ size: 'auto' }, undefined],
    [{}, undefined],
  ])('of %j are %j', async (over, expected) => {
    const { sent, images } = generate(fixture('google/image'), over);
    await images;
    expect(imageIssue(image, imageRequest(over), model)).toBeUndefined();
    expect(sent[0]?.json).toHaveProperty('generationConfig');
    expect(JSON.parse(JSON.stringify(sent[0]?.json)).generationConfig.imageConfig).toEqual(expected);
  }); // prettier-ignore

  it.each([
    [{ size: '1000x3000' }, 'size'],
    [{ extra: { aspect_ratio: '7:1' } }, 'aspect_ratio'],
    [{ images: Array.from({ length: 15 }, () => ({ form: 'url', url }) as const) }, 'image'],
  ])('are refused with %j', (over, param) => {
    expect(imageIssue(image, imageRequest(over), model)?.param).toBe(param);
  });

  const [flash, lite] = ['gemini-3.1-flash-image', 'gemini-3.1-flash-lite-image'];
  const asked: readonly [string, Partial<ImageRequest>, string | undefined][] = [
    [flash, { size: '512' }, undefined],
    [flash, { size: '4K', extra: { aspect_ratio: '1:8' } }, undefined],
    [lite, { size: '1K', extra: { aspect_ratio: '4:1' } }, undefined],
    [lite, { size: '1344x768' }, undefined],
    [lite, { size: '2K' }, 'size'],
  ];
  imageTables(image).checks(asked.map(([name, over, param]) => [JSON.stringify(over), over, name, param]));

  const ending = (finishReason: string) => ({
    candidates: [{ content: { parts: [{ text: 'No.' }] }, finishReason }],
  });
  it.each<[string, unknown, string, string, string]>([
    ['a blocked prompt', fixture('google/image-blocked'), 'rejected', 'PROHIBITED_CONTENT', 'moderation_input'],
    ...['SAFETY', 'IMAGE_SAFETY', 'PROHIBITED_CONTENT', 'IMAGE_PROHIBITED_CONTENT', 'RECITATION', 'IMAGE_RECITATION', 'BLOCKLIST', 'SPII'].map(
      (reason) => [reason, ending(reason), 'rejected', reason, 'moderation_output'] satisfies [string, unknown, string, string, string],
    ),
    ...['NO_IMAGE', 'IMAGE_OTHER', 'OTHER', 'STOP'].map(
      (reason) => [reason, ending(reason), 'rejected', reason, 'internal'] satisfies [string, unknown, string, string, string],
    ),
    ['nothing', {}, 'ambiguous', 'unreadable_answer', 'internal'],
    ['no object', [], 'ambiguous', 'unreadable_answer', 'internal'],
  ])('that were not rendered: %s', async (_, json, ...[outcome, code, failure]) => {
    const error = await upstreamError(generate(json).images);
    expect([error.outcome, error.code, error.failure.class]).toEqual([outcome, code, failure]);
  }); // prettier-ignore
});
