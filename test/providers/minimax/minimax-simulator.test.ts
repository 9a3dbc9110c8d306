import { describe, expect, it } from 'vitest';
import { defined } from '../../../src/base/defined.ts';
import type { ImageInput, ImageRequest, VideoRequest } from '../../../src/models/request.ts';
import { minimax } from '../../../src/providers/minimax/index.ts';
import { startReceiver } from '../../workshop/simulator/support.ts';
import { callback, imageIssue, imageRequest, submitContext, videoIssue, videoRequest } from '../support.ts';
import { useSimulator } from '../use-simulator.ts';

/** MiniMax's adapter against the dialects of the simulator, beyond what all adapters have in common. */

const simulator = useSimulator({ renderSeconds: 8 });

const { video, image } = minimax;
if (video === undefined || image === undefined) throw new Error('a capability is missing');
const context = (model: string, callbackUrl?: string) => ({
  ...submitContext({ request: simulator.request, baseUrl: `${simulator.url}/minimax`, model }),
  ...(callbackUrl === undefined ? {} : { callbackUrl }),
});

const picture = 'https://ex.com/a.png';
const data = 'data:image/png;base64,iVBORw0KGgo=';
const clip = 'https://ex.com/a.mp4';
const song = 'https://ex.com/a.mp3';
const frames = (firstFrame: string, lastFrame?: string): Partial<VideoRequest> =>
  defined({ firstFrame, lastFrame });
const reference = (...images: string[]): Partial<VideoRequest> => ({ references: images });

describe('every kind of input is accepted and rendered', () => {
  it.each<[string, string, Partial<VideoRequest>, object]>([
    ['text', 'MiniMax-H3', {}, { durationSeconds: 5, resolution: '768p', ratio: '16:9' }],
    [
      'text at 2K',
      'MiniMax-H3',
      { resolution: '2k', ratio: '9:16', duration: 15 },
      { durationSeconds: 15, resolution: '2k', ratio: '9:16' },
    ],
    ['text of Max', 'MiniMax-H3-Max', { resolution: '480p' }, { resolution: '480p' }],
    ['a frame', 'MiniMax-H3', frames(data), { durationSeconds: 5 }],
    ['two frames', 'MiniMax-H3', frames(picture, data), { durationSeconds: 5 }],
    [
      'references',
      'MiniMax-H3',
      { ...reference(picture, picture), videos: [clip], audios: [song], ratio: '1:1' },
      { ratio: '1:1' },
    ],
    [
      'a prompt that is expanded',
      'MiniMax-H3-Max',
      { extra: { extra: { prompt_expansion_mode: 'quality' } } },
      { resolution: '768p' },
    ],
    ['text of v1', 'MiniMax-Hailuo-2.3', { resolution: '1080p', duration: 6 }, {}],
    ['a frame of v1', 'MiniMax-Hailuo-2.3-Fast', { ...frames(data), duration: 10 }, {}],
    ['two frames of v1', 'MiniMax-Hailuo-02', frames(picture, picture), {}],
    ['512P', 'MiniMax-Hailuo-02', { ...frames(picture), resolution: '512p' }, {}],
    ['the first series', 'T2V-01-Director', {}, {}],
    ['an image of the first series', 'I2V-01-live', frames(picture), {}],
    ['a subject', 'S2V-01', { ...reference(picture), duration: 6, resolution: '720p' }, {}],
  ])('%s', async (_, model, asked, facts) => {
    const full = videoRequest(asked);
    expect(videoIssue(video, full, model)).toBeUndefined();
    const { operation } = await video.submit(full, context(model));
    simulator.control.advance(9);
    const status = await video.status(operation, context(model));
    expect(status).toMatchObject({ state: 'succeeded', facts });
    const [item] = status.state === 'succeeded' ? status.items : [];
    expect((await fetch(item?.url ?? '')).status).toBe(200);
  });
});

it('many jobs are reported in one answer, and jobs of v1 are not asked for together', async () => {
  const one = await video.submit(videoRequest(), context('MiniMax-H3'));
  const two = await video.submit(videoRequest(), context('MiniMax-H3'));
  const old = await video.submit(videoRequest(), context('MiniMax-Hailuo-2.3'));
  const operations = [one, two, old].map(({ operation }) => operation);
  const found = await video.list?.(operations, context('MiniMax-H3'));
  expect([...(found?.keys() ?? [])].toSorted()).toEqual([one.operation.id, two.operation.id].toSorted());
});

it('a running job is not cancelled, and a finished one keeps its record', async () => {
  const { operation } = await video.submit(videoRequest(), context('MiniMax-H3'));
  simulator.control.advance(4);
  expect(await video.cancel?.(operation, context('MiniMax-H3'))).toBe('refused');
  simulator.control.advance(5);
  expect(await video.cancel?.(operation, context('MiniMax-H3'))).toBe('refused');
  expect(await video.status(operation, context('MiniMax-H3'))).toMatchObject({ state: 'succeeded' });
  expect(simulator.control.stats().deletes).toBe(0);
});

it.each(['MiniMax-H3', 'MiniMax-Hailuo-2.3'])(
  '%s calls back once its challenge is answered',
  async (model) => {
    const news: unknown[] = [];
    const receiver = await startReceiver((response, index) => {
      const said = video.parseCallback?.(callback(receiver.received[index]?.body));
      news.push(said);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(said?.reply ?? { status: 'ok' }));
    });
    try {
      await video.submit(videoRequest(), context(model, receiver.url));
      await receiver.waitFor(1);
      expect(news[0]).toEqual({ ended: false, reply: { challenge: expect.any(String) } });
      simulator.control.advance(4);
      simulator.control.advance(5);
      const deadline = Date.now() + 20_000;
      while (!news.some((each) => JSON.stringify(each) === '{"ended":true}')) {
        if (Date.now() > deadline) throw new Error('no callback reported the end');
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    } finally {
      await receiver.close();
    }
  },
);

describe('images', () => {
  const link: ImageInput = { form: 'data', mediaType: 'image/png', base64: 'iVBORw0KGgo=' };

  it.each<[string, Partial<ImageRequest>, number]>([
    ['text', {}, 1],
    ['several, in pixels', { n: 3, size: '1280x720', extra: { seed: 1, prompt_optimizer: true } }, 3],
    ['a ratio, as base64', { size: '3:2', responseFormat: 'b64_json' }, 1],
    ['a character', { images: [link] }, 1],
  ])('of %s', async (_, asked, count) => {
    simulator.control.setRenderSeconds(0);
    const full = imageRequest(asked);
    expect(imageIssue(image, full, 'image-01')).toBeUndefined();
    const { images, facts } = await image.generate(full, context('image-01'));
    expect([images.length, facts.images]).toEqual([count, count]);
  });
});
