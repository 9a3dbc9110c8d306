import { describe, expect, it } from 'vitest';
import type { ImageInput, ImageRequest, VideoRequest } from '../../../src/models/request.ts';
import { bfl } from '../../../src/providers/bfl/index.ts';
import { startReceiver } from '../../workshop/simulator/support.ts';
import {
  callback,
  imageIssue,
  imageRequest,
  submitContext,
  upstreamError,
  videoIssue,
  videoRequest,
} from '../support.ts';
import { useSimulator } from '../use-simulator.ts';

/** The adapter of Black Forest Labs against the dialect of the simulator, beyond what all adapters have in common. */

const simulator = useSimulator({ renderSeconds: 8 });

const { video, imageTask } = bfl;
if (video === undefined || imageTask === undefined) throw new Error('it lacks a part');
const context = (model: string, callbackUrl?: string) =>
  submitContext({
    request: simulator.request,
    baseUrl: `${simulator.url}/bfl`,
    model,
    credential: { id: 'a', apiKey: 'test-key', callbackSecret: 'secret' },
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
  });
const a = 'https://ex.com/a.png';
const link: ImageInput = { form: 'url', url: a };
const data: ImageInput = { form: 'data', mediaType: 'image/png', base64: 'QUJD' };

describe('every kind of video is accepted, rendered and priced', () => {
  it.each<[string, Partial<VideoRequest>, string]>([
    ['text', { duration: 5, safetyIdentifier: 'u' }, '85'],
    ['1080p', { duration: 5, resolution: '1080p', ratio: '9:16', generateAudio: false }, '145'],
    ['a draft', { duration: 5, draft: true }, '30'],
    ['one frame', { firstFrame: a, duration: 10 }, '170'],
    ['two frames', { firstFrame: a, lastFrame: a, duration: 5, ratio: 'adaptive' }, '85'],
    [
      'images at moments',
      { references: [a, a, a], duration: 5, extra: { keyframe_seconds: [0, 2.5, 5] } },
      '85',
    ],
    ['a video', { videos: ['https://ex.com/a.mp4'], duration: 5 }, '205'],
  ])('%s', async (_, asked, amount) => {
    const full = videoRequest(asked);
    expect(videoIssue(video, full, 'flux-3-video')).toBeUndefined();
    const { operation } = await video.submit(full, context('flux-3-video'));
    simulator.control.advance(9);
    expect(await video.status(operation, context('flux-3-video'))).toMatchObject({
      state: 'succeeded',
      cost: { amount, unit: 'credits' },
    });
  });
});

describe('every kind of image is accepted, rendered and priced', () => {
  it.each<[string, Partial<ImageRequest>]>([
    ['flux-2-pro', { images: [link, data], size: '1024x1024', extra: { seed: 1 } }],
    ['flux-2-max', { extra: { output_format: 'png', safety_tolerance: 5 } }],
    ['flux-2-flex', { extra: { steps: 20, guidance: 3 } }],
    ['flux-2-klein-4b', { images: [link, link, link, link] }],
    ['flux-2-klein-9b', { size: '512x768' }],
    ['flux-kontext-pro', { images: [link], size: '1344x768' }],
    ['flux-kontext-max', {}],
    ['flux-pro-1.1', { images: [link], size: '1440x960' }],
    ['flux-pro-1.1-ultra', { size: '2048x2048', extra: { raw: true } }],
    ['flux-pro-1.0-fill', { images: [data], mask: data }],
    ['flux-dev', { size: '1024x768' }],
    ['flux-3-image', { images: [link, data], size: '1920x1080' }],
    ['flux-3-image', { size: '768sq', extra: { grounding: false } }],
  ])('%s %j', async (model, asked) => {
    const full = imageRequest(asked);
    expect(imageIssue(imageTask, full, model)).toBeUndefined();
    const { operation } = await imageTask.submit(full, context(model));
    simulator.control.advance(9);
    expect(await imageTask.status(operation, context(model))).toMatchObject({
      state: 'succeeded',
      facts: { images: 1 },
      cost: { unit: 'credits' },
    });
  });
});

it('a job of the other shape is read as well: the word elsewhere, the id left out, the price of the creation', async () => {
  const { operation } = await video.submit(
    videoRequest({ prompt: 'x [sim:docs-shape]', duration: 5 }),
    context('flux-3-video'),
  );
  simulator.control.advance(9);
  expect(await video.status(operation, context('flux-3-video'))).toMatchObject({
    state: 'succeeded',
    cost: { amount: '85', unit: 'credits' },
  });
});

it.each(['', ' [sim:docs-shape]'])(
  'a job that calls back%s is asked for where it was created',
  async (fault) => {
    const receiver = await startReceiver();
    try {
      const called = context('flux-2-pro', receiver.url);
      const { operation } = await imageTask.submit(imageRequest({ prompt: `x${fault}` }), called);
      expect(operation['pollingUrl']).toBeUndefined();
      simulator.control.advance(9);
      await receiver.waitFor(1);
      expect(await imageTask.status(operation, called)).toMatchObject({ state: 'succeeded' });
      const [news] = receiver.received;
      const headers = Object.fromEntries(
        Object.entries(news?.headers ?? {}).map(([name, value]) => [name, String(value)]),
      );
      const came = callback(news?.body, headers);
      expect(imageTask.parseCallback?.(came)).toEqual({ ended: true });
      expect(await imageTask.verifyCallback?.(came, { ...called, now: Date.now() })).toBe(true);
      const other = {
        ...called,
        credential: { id: 'a', apiKey: 'k', callbackSecret: 'other' },
        now: Date.now(),
      };
      expect(await imageTask.verifyCallback?.(came, other)).toBe(false);
    } finally {
      await receiver.close();
    }
  },
);

it('a submission beyond the jobs in flight of the account waits, and made no job', async () => {
  for (let index = 0; index < 24; index += 1) await imageTask.submit(imageRequest(), context('flux-2-pro'));
  const full = await upstreamError(imageTask.submit(imageRequest(), context('flux-2-pro')));
  expect([full.outcome, full.failure.class]).toEqual(['throttled', 'capacity']);
  expect(simulator.control.tasks()).toHaveLength(24);
});

it('a job that is not known right after its creation is one that may yet be', async () => {
  const asked = videoRequest({ prompt: 'x [sim:poll:sdk-shape*1]' });
  const { operation } = await video.submit(asked, context('flux-3-video'));
  expect((await upstreamError(video.status(operation, context('flux-3-video')))).gone).toBe(true);
  expect(await video.status(operation, context('flux-3-video'))).toMatchObject({ state: 'pending' });
});
