import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readMp4 } from '../media/mp4-reader.ts';
import { startHarness } from '../support.ts';
import type { Answer, Harness, Json } from '../support.ts';

const harness: Harness = await startHarness({ renderSeconds: 8 });
beforeEach(() => {
  harness.control.reset();
  harness.control.setRenderSeconds(8);
});
afterAll(() => harness.close());

const version = { 'x-runway-version': '2024-11-06' };
const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = version) =>
  harness.call(method, `/runway/v1${path}`, body, headers);
const post = (path: string, body: object): Promise<Answer> => call('POST', `/${path}`, body);
const gen45 = { model: 'gen4.5', promptText: 'a cat', ratio: '1280:720', duration: 5 };
const text = (body: object = {}): Promise<Answer> => post('text_to_video', { ...gen45, ...body });
const uri = 'https://i.example/a.png';
const video = 'https://i.example/a.mp4';

async function idOf(answer: Promise<Answer>): Promise<string> {
  const { status, body } = await answer;
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { id: expect.stringMatching(/^[\da-f-]{36}$/) },
  });
  return String(body.id);
}
const poll = async (id: string): Promise<Json> => (await call('GET', `/tasks/${id}`)).body;

describe('a task', () => {
  it('moves through its words to a video that plays, with a fresh link at each question', async () => {
    const created = await text({ ratio: '720:1280' });
    expect(created.body).toEqual({ id: expect.any(String), estimatedCost: { credits: 60 } });
    const { id } = created.body;
    const base = { id, createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/) };
    expect(await poll(id)).toEqual({ ...base, status: 'PENDING', estimatedCost: { credits: 60 } });
    harness.control.advance(4.5);
    expect(await poll(id)).toEqual({
      ...base,
      status: 'RUNNING',
      progress: 0.5,
      estimatedCost: { credits: 60 },
    });
    harness.control.advance(4);
    const task = await poll(id);
    expect(task).toEqual({
      ...base,
      status: 'SUCCEEDED',
      output: [expect.any(String)],
      cost: { credits: 60 },
    });
    const file = Buffer.from(await (await fetch(task.output[0])).arrayBuffer());
    const { width, height } = readMp4(file);
    expect(height / width).toBeCloseTo(16 / 9, 1);
    harness.control.advance(86_400);
    expect((await fetch(task.output[0])).status).toBe(403);
    const [fresh] = (await poll(id)).output;
    expect(fresh).not.toBe(task.output[0]);
    expect((await fetch(fresh)).status).toBe(200);
  });

  it('waits as THROTTLED while as many others of its model run as may', async () => {
    for (let index = 0; index < 20; index += 1) await idOf(text({ promptText: 'x [sim:queue=0]' }));
    const id = await idOf(text());
    const other = await idOf(text({ model: 'veo3.1' }).then(() => text({ model: 'veo3.1', duration: 4 })));
    expect((await poll(id)).status).toBe('THROTTLED');
    expect((await poll(other)).status).toBe('PENDING');
    harness.control.advance(8);
    expect((await poll(id)).status).toBe('SUCCEEDED');
  });

  it.each([
    ['PENDING', 0],
    ['RUNNING', 4],
    ['SUCCEEDED', 9],
  ])('is gone after its DELETE at %s', async (word, seconds) => {
    const id = await idOf(text());
    harness.control.advance(seconds);
    expect((await poll(id)).status).toBe(word);
    const deleted = await call('DELETE', `/tasks/${id}`);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await call('GET', `/tasks/${id}`)).status).toBe(404);
    expect((await call('DELETE', `/tasks/${id}`)).status).toBe(404);
  });

  it('may be shown as CANCELLED instead', async () => {
    const id = await idOf(text({ promptText: 'x [sim:docs-shape]' }));
    expect((await call('DELETE', `/tasks/${id}`)).status).toBe(204);
    expect((await poll(id)).status).toBe('CANCELLED');
  });

  it.each([
    ['failed', 'INTERNAL.BAD_OUTPUT.CODE01', 0],
    ['failed=ASSET.INVALID', 'ASSET.INVALID', 0],
    ['moderation-in-task', 'SAFETY.OUTPUT.VIDEO', 0],
    ['moderation', 'SAFETY.INPUT.TEXT', 60],
  ])('ends with %s as %s', async (fault, failureCode, credits) => {
    const id = await idOf(text({ promptText: `x [sim:${fault}]` }));
    harness.control.advance(9);
    expect(await poll(id)).toEqual({
      id,
      createdAt: expect.any(String),
      status: 'FAILED',
      failure: expect.stringMatching(/\w/),
      failureCode,
      cost: { credits },
    });
  });

  it('leaves out cost, link and known words where a fault says so', async () => {
    const bare = await text({ promptText: 'x [sim:missing-usage]' });
    expect(Object.keys(bare.body)).toEqual(['id']);
    const two = await idOf(text({ promptText: 'x [sim:missing-url]' }));
    const three = await idOf(text({ promptText: 'x [sim:unknown-status]' }));
    const four = await idOf(text({ promptText: 'x [sim:usage-above=2]' }));
    harness.control.advance(4);
    expect((await poll(three)).status).toBe('POST_PROCESSING');
    harness.control.advance(5);
    expect((await poll(bare.body.id)).cost).toBeUndefined();
    expect((await poll(two)).output).toEqual([]);
    expect((await poll(four)).cost).toEqual({ credits: 120 });
  });
});

describe('prices, in credits', () => {
  const image = { promptText: 'a cat', ratio: '1280:720' };
  const seedance = { model: 'seedance2', promptText: 'x', duration: 4 };
  const v2v = { model: 'aleph2', videoUri: video };
  it.each([
    ['gen4_turbo', 'image_to_video', { model: 'gen4_turbo', promptImage: uri, ratio: '960:960' }, 25],
    ['veo3.1', 'text_to_video', { ...gen45, model: 'veo3.1', duration: 8 }, 320],
    ['veo3.1 without sound', 'text_to_video', { ...gen45, model: 'veo3.1', duration: 8, audio: false }, 160],
    ['Seedance 720p', 'text_to_video', { ...seedance, ratio: '1280:720' }, 144],
    ['Seedance 1080p', 'text_to_video', { ...seedance, ratio: '2206:946' }, 160],
    ['Seedance 4k', 'text_to_video', { ...seedance, ratio: '3840:2160' }, 600],
    ['ProRes', 'text_to_video', { ...gen45, outputFormat: 'prores' }, 85],
    ['at least', 'video_to_video', { ...v2v, promptText: '[sim:input-seconds=1]' }, 56],
    [
      'a frame',
      'image_to_video',
      { model: 'hailuo3', promptText: 'x', promptImage: uri, resolution: '768p' },
      52,
    ],
    ['an image', 'text_to_image', { model: 'gen4_image', ...image }, 5],
    ['a large image', 'text_to_image', { model: 'gen4_image', ...image, ratio: '1920:1080' }, 8],
  ])('%s', async (_, path, body, credits) => {
    const id = await idOf(post(path, body));
    harness.control.advance(9);
    expect((await poll(id)).cost).toEqual({ credits });
  });

  it('are of all images of a job', async () => {
    const id = await idOf(
      post('text_to_image', { model: 'gemini_image3.1_flash', ...image, outputCount: 4 }),
    );
    harness.control.advance(9);
    const task = await poll(id);
    expect(task).toMatchObject({ cost: { credits: 80 } });
    expect(task.output).toHaveLength(4);
    expect((await fetch(task.output[3])).headers.get('content-type')).toBe('image/png');
  });
});

const first = { uri, position: 'first' };
const last = { uri, position: 'last' };
const i2v = (body: object) => ['image_to_video', { ...gen45, promptImage: uri, ...body }] as const;
const t2v = (body: object) => ['text_to_video', { ...gen45, ...body }] as const;
const seedance = (body: object) =>
  ['image_to_video', { model: 'seedance2', promptText: 'x', ...body }] as const;
const v2v = (body: object) => ['video_to_video', { promptText: 'x', ...body }] as const;
const t2i = (body: object) =>
  ['text_to_image', { model: 'gen4_image', promptText: 'x', ratio: '720:720', ...body }] as const;

describe('a body', () => {
  it.each([
    ['a frame without a text', i2v({ model: 'gen4_turbo', promptText: undefined })],
    ['the ratio of an image', i2v({ ratio: '1584:672' })],
    ['a first frame by its position', i2v({ promptImage: [first] })],
    ['two frames', i2v({ model: 'veo3.1', duration: 6, promptImage: [first, last] })],
    ['no length', t2v({ model: 'veo3.1', duration: undefined })],
    ['references of Seedance', seedance({ promptImage: [{ uri }, { uri }], ratio: '834:1112' })],
    ['no ratio', seedance({ promptImage: [first, last], duration: 15 })],
    [
      'sound and videos as references',
      seedance({
        model: 'wan3',
        promptImage: [{ uri }],
        referenceAudio: [{ type: 'audio', uri: video }],
        referenceVideos: [{ type: 'video', uri: video }],
      }),
    ],
    ['a video of Seedance', v2v({ model: 'seedance2_fast', promptVideo: video, duration: 5 })],
    [
      'an edit',
      v2v({
        model: 'aleph2',
        videoUri: video,
        seed: 7,
        targetAspectRatio: '1:1',
        keyframes: [
          { uri, seconds: 1 },
          { uri, at: 1, range: { start_seconds: 1, end_seconds: 2 } },
        ],
      }),
    ],
    [
      'a resolution in place of a ratio',
      i2v({ model: 'happyhorse_1_0', ratio: undefined, resolution: '1080P' }),
    ],
    ['a data URI', i2v({ promptImage: 'data:image/png;base64,QUJD' })],
    ['an upload', i2v({ promptImage: 'runway://abc' })],
    ['reference images', t2i({ referenceImages: [{ uri, tag: 'a', subject: 'human' }], seed: 1 })],
    ['an automatic ratio', t2i({ model: 'seedream5_pro', ratio: 'auto_2k', outputFormat: 'png' })],
  ] as const)('may have %s', async (_, [path, body]) => {
    expect(await idOf(post(path, body))).toMatch(/-/);
  });

  it.each([
    ['an unknown model', t2v({ model: 'gen9' }), 'model'],
    ['a model of another path', t2v({ model: 'gen4_turbo' }), 'model'],
    ['no text', t2v({ promptText: undefined }), 'promptText'],
    ['an empty text', t2v({ promptText: '' }), 'promptText'],
    ['1001 UTF-16 units', t2v({ promptText: `${'😀'.repeat(500)}x` }), 'promptText'],
    ['an unknown field', t2v({ fps: 24 }), 'body'],
    ['a field of other models', t2v({ negativePrompt: 'x' }), 'negativePrompt'],
    ['a resolution', t2v({ resolution: '720p' }), 'resolution'],
    ['a ratio with words', t2v({ ratio: '16:9 wide' }), 'ratio'],
    ['16:9', t2v({ ratio: '16:9' }), 'ratio'],
    ['the ratio of another path', t2v({ ratio: '960:960' }), 'ratio'],
    ['no ratio', t2v({ ratio: undefined }), 'ratio'],
    ['no length', t2v({ duration: undefined }), 'duration'],
    ['a length in a string', t2v({ duration: '5' }), 'duration'],
    ['11 s', t2v({ duration: 11 }), 'duration'],
    ['5 s of Veo', t2v({ model: 'veo3.1' }), 'duration'],
    ['a seed too large', t2v({ seed: 4_294_967_296 }), 'seed'],
    ['the seed of Veo', t2v({ model: 'veo3', duration: 8, seed: 1 }), 'seed'],
    ['no frame', i2v({ promptImage: undefined }), 'promptImage'],
    ['a last frame alone', i2v({ model: 'veo3.1', duration: 4, promptImage: [last] }), 'promptImage'],
    ['a last frame of gen4', i2v({ promptImage: [first, last] }), 'promptImage'],
    ['two first frames', i2v({ promptImage: [first, first] }), 'promptImage'],
    ['a frame without a position', i2v({ promptImage: [{ uri }] }), 'promptImage'],
    ['frames and references', seedance({ promptImage: [first, { uri }] }), 'promptImage'],
    ['references beside frames', seedance({ promptImage: uri, references: [{ uri }] }), 'references'],
    [
      'sound without a text',
      seedance({ promptText: undefined, promptImage: uri, referenceAudio: [{ type: 'audio', uri: video }] }),
      'promptText',
    ],
    ['no video', v2v({ model: 'seedance2' }), 'promptVideo'],
    ['the field of Seedance for an edit', v2v({ model: 'aleph2', promptVideo: video }), 'promptVideo'],
    ['the length of an edit', v2v({ model: 'aleph2', videoUri: video, duration: 5 }), 'duration'],
    [
      'six keyframes',
      v2v({ model: 'aleph2', videoUri: video, keyframes: Array.from({ length: 6 }, () => ({ uri, at: 1 })) }),
      'keyframes',
    ],
    ['a keyframe at no time', v2v({ model: 'aleph2', videoUri: video, keyframes: [{ uri }] }), 'keyframes.0'],
    ['a ratio beside keyframes that give it', i2v({ model: 'wan3', promptImage: [first] }), 'ratio'],
    ['no references', t2i({ model: 'gen4_image_turbo' }), 'referenceImages'],
    ['two outputs', t2i({ model: 'gemini_image3.1_flash', outputCount: 2 }), 'outputCount'],
    ['an automatic ratio of gen4', t2i({ ratio: 'auto_1k' }), 'ratio'],
    ['http', i2v({ promptImage: 'http://i.example/a.png' }), 'promptImage'],
    ['an IP address', i2v({ promptImage: 'https://192.0.2.1/a.png' }), 'promptImage'],
    ['a long URL', i2v({ promptImage: `${uri}?${'x'.repeat(2048)}` }), 'promptImage'],
    ['data without base64', i2v({ promptImage: 'data:image/png,abc' }), 'promptImage'],
    ['a GIF', i2v({ promptImage: 'data:image/gif;base64,QUJD' }), 'promptImage'],
    ['large data', i2v({ promptImage: `data:image/png;base64,${'A'.repeat(5_242_880)}` }), 'promptImage'],
  ] as const)('is refused for %s', async (_, [path, body], field) => {
    const answer = await post(path, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      error: expect.any(String),
      docUrl: expect.any(String),
      issues: [{ path: expect.any(Array), message: expect.any(String) }],
    });
    expect(answer.body.issues[0].path.join('.')).toBe(field === 'body' ? '' : field);
  });
});

describe('an error', () => {
  it('comes without the header of the version, whatever the call', async () => {
    const id = await idOf(text());
    for (const [method, path, body] of [
      ['POST', '/text_to_video', gen45],
      ['GET', `/tasks/${id}`, undefined],
      ['DELETE', `/tasks/${id}`, undefined],
    ] as const) {
      for (const headers of [{}, { 'x-runway-version': '2024-01-01' }]) {
        const answer = await call(method, path, body, headers);
        expect([answer.status, answer.body.error]).toEqual([
          400,
          expect.stringContaining('X-Runway-Version'),
        ]);
      }
    }
    expect(harness.control.tasks('a cat')).toHaveLength(1);
  });

  it.each([
    ['429=60', 429, 'You have reached the daily generation limit of this model.'],
    ['quota', 400, 'You do not have enough credits to run this task.'],
    ['401', 401, 'The API key is invalid or disabled.'],
    ['403', 403, 'You do not have access to this resource.'],
    ['500', 500, 'Internal server error.'],
    ['503', 503, 'Service unavailable.'],
  ])('has no code for %s, only a text', async (fault, status, error) => {
    const answer = await text({ promptText: `x [sim:${fault}]` });
    expect([answer.status, answer.body]).toEqual([status, { error }]);
    expect(answer.headers.get('retry-after')).toBe(fault === '429=60' ? '60' : null);
  });

  it.each([
    ['GET', '/tasks/none', 404],
    ['GET', '/tasks', 404],
    ['GET', '/text_to_video', 405],
  ])('answers %s %s with %i', async (method, path, status) => {
    const answer = await call(method, path);
    expect([answer.status, typeof answer.body.error]).toEqual([status, 'string']);
  });
});
