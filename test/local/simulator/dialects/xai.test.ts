import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readImage } from '../media/image-reader.ts';
import { readMp4 } from '../media/mp4-reader.ts';
import { startHarness } from '../support.ts';
import type { Answer, Harness, Json } from '../support.ts';

const harness: Harness = await startHarness({ renderSeconds: 8 });
beforeEach(() => {
  harness.control.reset();
  harness.control.setRenderSeconds(8);
});
afterAll(() => harness.close());

const post = (path: string, body: unknown, headers?: Record<string, string>): Promise<Answer> =>
  harness.call('POST', `/xai/v1${path}`, body, headers);
const create = (over: object = {}, path = '/videos/generations'): Promise<Answer> =>
  post(path, { model: 'grok-imagine-video-1.5', prompt: 'a cat', ...over });
const withFault = (fault: string) => create({ prompt: `a cat [sim:${fault}]` });
const poll = (id: string): Promise<Answer> => harness.call('GET', `/xai/v1/videos/${id}`);
const idOf = async (answer: Promise<Answer>): Promise<string> => {
  const { status, body } = await answer;
  expect({ status, body }).toEqual({ status: 200, body: { request_id: expect.any(String) } });
  return body.request_id;
};
async function ended(answer: Promise<Answer>): Promise<Json> {
  const id = await idOf(answer);
  harness.control.advance(9);
  const { status, body } = await poll(id);
  expect(status).toBe(200);
  return body;
}
const still = { url: 'https://i.example/a.png' };
const clip = { url: 'https://i.example/a.mp4' };
const dollars = (amount: number) => ({ cost_in_usd_ticks: Math.round(amount * 1e10) });

describe('videos', () => {
  it('are 202 until they are done, with ticks for what they cost', async () => {
    const id = await idOf(create({ duration: 5, resolution: '720p', aspect_ratio: '9:16' }));
    const queued = await poll(id);
    expect([queued.status, queued.body]).toEqual([202, { status: 'pending', progress: 0 }]);
    harness.control.advance(4);
    const running = await poll(id);
    expect([running.status, running.body]).toEqual([202, { status: 'pending', progress: 50 }]);
    harness.control.advance(5);
    const { status, body } = await poll(id);
    expect([status, body]).toEqual([
      200,
      {
        status: 'done',
        progress: 100,
        model: 'grok-imagine-video-1.5',
        video: { url: expect.any(String), duration: 5, respect_moderation: true },
        usage: dollars(0.35),
      },
    ]);
    const file = readMp4(Buffer.from(await (await fetch(body.video.url)).arrayBuffer()));
    expect(file.height / file.width).toBeCloseTo(16 / 9, 1);
    harness.control.advance(3600);
    expect((await fetch(body.video.url)).status).toBe(403);
  });

  it.each([
    ['480p for 8 s unless the request says otherwise', {}, 0.4],
    ['1080p', { resolution: '1080p', duration: 1 }, 0.25],
  ])('cost for %s', async (_, over, amount) => {
    expect((await ended(create(over))).usage).toEqual(dollars(amount));
  });

  it.each([
    ['an unknown model', { model: 'sora-2' }, 'Model not found: sora-2'],
    ['no prompt', { prompt: undefined }, 'prompt'],
    ['a seed', { seed: 1 }, 'Argument not supported on this model'],
    ['half a second', { duration: 1.5 }, 'duration'],
    ['5:4', { aspect_ratio: '5:4' }, 'aspect_ratio'],
    ['4k', { resolution: '4k' }, 'resolution'],
    ['an image that is text', { image: 'https://i.example/a.png' }, 'image'],
  ])('refuse %s', async (_, over, words) => {
    const { status, body } = await create(over);
    expect({ status, body }).toEqual({
      status: 400,
      body: { code: 'Client specified an invalid argument', error: expect.stringContaining(words) },
    });
  }); // prettier-ignore

  it('are edited at the length of their input, and at 720p', async () => {
    const edit = (over: object) => create({ video: clip, ...over }, '/videos/edits');
    const body = await ended(edit({ prompt: 'x [sim:input-seconds=4]' }));
    expect(body).toMatchObject({ video: { duration: 4 }, usage: dollars(0.28) });
    expect((await edit({ duration: 5 })).status).toBe(400);
    expect((await edit({ video: undefined })).status).toBe(400);
  });

  it('are extended at the price of what is added', async () => {
    const extend = (over: object) =>
      create({ model: 'grok-imagine-video', video: clip, ...over }, '/videos/extensions');
    const body = await ended(extend({ prompt: 'x [sim:input-seconds=4]', duration: 2 }));
    expect(body).toMatchObject({ video: { duration: 6 }, usage: dollars(0.14) });
    expect((await ended(extend({}))).usage).toEqual(dollars(0.42));
    expect((await extend({ duration: 11 })).status).toBe(400);
  });

  it('that are moderated after the rendering are done, without a file; billed or not', async () => {
    expect(await ended(withFault('moderation-in-task'))).toMatchObject({
      status: 'done',
      video: { url: '', respect_moderation: false },
      usage: dollars(0.4),
    });
    const free = await ended(create({ prompt: 'x [sim:moderation-in-task][sim:docs-shape]' }));
    expect(free).toMatchObject({ video: { respect_moderation: false }, usage: dollars(0) });
  });

  it('fail with a code and words, and expire after a day', async () => {
    expect(await ended(withFault('failed'))).toEqual({
      status: 'failed',
      progress: 0,
      error: { code: 'internal_error', message: expect.any(String) },
    });
    const id = await idOf(withFault('never-finishes'));
    harness.control.advance(86_400);
    expect((await poll(id)).body).toEqual({ status: 'expired', progress: 0 });
  });

  it('have an older shape: no body, then no word', async () => {
    const id = await idOf(withFault('docs-shape'));
    const waiting = await poll(id);
    expect([waiting.status, waiting.text]).toEqual([202, '']);
    harness.control.advance(9);
    const { body } = await poll(id);
    expect([body.status, body.video.url]).toEqual([undefined, expect.any(String)]);
  });
});

it('a wrong key is an invalid argument, none is 401; nothing is listed or cancelled', async () => {
  const wrong = await create({}, '/videos/generations');
  expect(wrong.status).toBe(200);
  const refused = await post('/videos/generations', {}, { authorization: 'Bearer wrong' });
  expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining('Incorrect API key')]);
  expect((await post('/videos/generations', {}, { authorization: '' })).status).toBe(401);
  expect((await poll('x')).status).toBe(404);
  expect((await harness.call('GET', '/xai/v1/videos')).status).toBe(404);
  expect((await harness.call('DELETE', `/xai/v1/videos/${wrong.body.request_id}`)).status).toBe(404);
});

describe('images', () => {
  beforeEach(() => {
    harness.control.setRenderSeconds(0);
  });
  const paint = (over: object = {}, path = '/images/generations'): Promise<Answer> =>
    post(path, { model: 'grok-imagine-image-2.0', prompt: 'a cat', ...over });
  const source = { ...still, type: 'image_url' };

  it('come as links, with ticks', async () => {
    const { status, body } = await paint({ aspect_ratio: '19.5:9', n: 2 });
    expect([status, body]).toEqual([
      200,
      {
        created: expect.any(Number),
        data: Array.from({ length: 2 }, () => ({
          url: expect.any(String),
          revised_prompt: '',
          respect_moderation: true,
        })),
        usage: dollars(0.12),
      },
    ]);
    const file = readImage(Buffer.from(await (await fetch(body.data[0].url)).arrayBuffer()));
    expect([file?.format, (file?.width ?? 0) / (file?.height ?? 1)]).toEqual([
      'jpeg',
      expect.closeTo(19.5 / 9, 1),
    ]);
  });

  it('are edited by JSON, and each input is charged for', async () => {
    const edit = (over: object) => paint(over, '/images/edits');
    expect((await edit({ image: source })).body.usage).toEqual(dollars(0.07));
    expect((await edit({ images: [source, source] })).body.usage).toEqual(dollars(0.08));
    expect((await edit({})).status).toBe(400);
    expect((await edit({ image: source, images: [source] })).status).toBe(400);
    expect((await edit({ image: still })).status).toBe(400);
  });

  it('that were refused hold no file and cost nothing', async () => {
    const some = (await paint({ n: 3, prompt: 'x [sim:item-moderation=1]' })).body;
    expect(some.data.map((item: Json) => item.respect_moderation)).toEqual([true, false, true]);
    expect([some.data[1].url, some.usage]).toEqual(['', dollars(0.12)]);
    const none = (await paint({ prompt: 'x [sim:moderation-in-task]' })).body;
    expect([none.data[0].respect_moderation, none.usage]).toEqual([false, dollars(0)]);
    expect((await paint({ prompt: 'x [sim:missing-usage]' })).body.usage).toBeUndefined();
    expect((await paint({ prompt: 'x [sim:missing-url]' })).body.data[0]).not.toHaveProperty('url');
  });

  it.each([
    ['an unknown model', { model: 'grok-imagine-image-2' }],
    ['eleven', { n: 11 }],
    ['a size', { size: '1024x1024' }],
    ['5:4', { aspect_ratio: '5:4' }],
    ['4k', { resolution: '4k' }],
    ['a seed', { seed: 1 }],
    ['an image for text', { image: source }],
  ])('refuse %s', async (_, over) => {
    expect((await paint(over)).status).toBe(400);
  });
});
