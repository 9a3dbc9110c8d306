import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseGatewayConfig } from '../../../src/config/gateway-file.ts';
import type { ImageRequest, VideoRequest } from '../../../src/models/request.ts';
import { adapters } from '../../../src/providers/index.ts';
import { replicate } from '../../../src/providers/replicate/index.ts';
import {
  imageIssue,
  imageRequest,
  submitContext,
  upstreamError,
  videoIssue,
  videoRequest,
} from '../support.ts';
import { useSimulator } from '../use-simulator.ts';

/** Replicate's adapter with the mappings of gateway.example.yaml, against the dialect of the simulator. */

const simulator = useSimulator({ renderSeconds: 8 });

const { video, imageTask } = replicate;
if (video === undefined || imageTask === undefined) throw new Error('a capability is missing');

const text = readFileSync(new URL('../../../gateway.example.yaml', import.meta.url), 'utf8');
const environment = Object.fromEntries(
  Array.from(text.matchAll(/\$\{(\w+)\}/g), ([, name = '']) => [name, 'x'] as const),
);
const { channels } = parseGatewayConfig(text, 'gateway.example.yaml', { environment, ...adapters });
const served = channels.find(({ provider }) => provider === 'replicate')?.models ?? {};

function context(name: string) {
  const { upstream = '', mapping } = served[name] ?? {};
  if (mapping === undefined) throw new Error(`the example has no ${name}`);
  return submitContext({
    request: simulator.request,
    baseUrl: `${simulator.url}/replicate/v1`,
    model: upstream,
    mapping,
  });
}

const picture = 'https://ex.com/a.png';

it('the example serves three models', () => {
  expect(Object.keys(served)).toHaveLength(3);
});

describe('every kind of input is accepted and rendered', () => {
  it.each<[string, string, Partial<VideoRequest>]>([
    ['text', 'replicate-seedance-2.0', { resolution: '480p', ratio: '9:16', duration: 7, generateAudio: false, seed: 1 }],
    ['text about which nothing is said', 'replicate-seedance-2.0', {}],
    ['a length of its own', 'replicate-seedance-2.0', { duration: 'auto', ratio: 'adaptive' }],
    ['a first frame', 'replicate-seedance-2.0', { firstFrame: picture }],
    ['two frames', 'replicate-seedance-2.0', { firstFrame: picture, lastFrame: picture }],
    ['references', 'replicate-seedance-2.0', { references: [picture], videos: ['https://ex.com/a.mp4'], audios: ['https://ex.com/a.mp3'] }],
    ['another model', 'replicate-wan-3-prime', { resolution: '720p', ratio: '16:9', duration: 30, seed: 1, extra: { negative_prompt: 'rain' } }],
  ])('%s', async (_, name, asked) => {
    const full = videoRequest(asked);
    const own = context(name);
    expect(videoIssue(video, full, own.model, own.mapping)).toBeUndefined();
    const { operation } = await video.submit(full, own);
    expect(await video.status(operation, own)).toEqual({ state: 'pending', phase: 'submitted' });
    simulator.control.advance(9);
    expect(await video.status(operation, own)).toMatchObject({
      state: 'succeeded',
      items: [{ url: expect.stringContaining('.mp4'), expiresAt: expect.any(Number) }],
    });
  }); // prettier-ignore

  it.each<[string, Partial<ImageRequest>]>([
    ['text', { size: '1536x1024', extra: { seed: 1, output_format: 'webp' } }],
    [
      'images',
      {
        size: '1024x1024',
        images: [
          { form: 'url', url: picture },
          { form: 'url', url: picture },
        ],
      },
    ],
  ])('an image of %s', async (_, asked) => {
    const own = context('replicate-flux-2-pro');
    const full = imageRequest(asked);
    expect(imageIssue(imageTask, full, own.model, own.mapping)).toBeUndefined();
    const { operation } = await imageTask.submit(full, own);
    simulator.control.advance(9);
    expect(await imageTask.status(operation, own)).toMatchObject({
      state: 'succeeded',
      facts: { images: 1 },
    });
  });
});

describe('a lost job', () => {
  const asked = videoRequest({ prompt: 'a lost boat [sim:accepted-then-silent]' });
  const lost = { request: asked, sentAfter: Date.now() - 60_000, sentBefore: Date.now() + 86_400_000 };

  it('is found by the address that it calls, among those of other attempts', async () => {
    const own = context('replicate-seedance-2.0');
    const callbackUrl = 'https://127.0.0.1:9/callbacks/upstream/t1/secret';
    for (const marker of ['mediary-t1-1', 'mediary-t1-2'])
      await upstreamError(video.submit(asked, { ...own, marker, callbackUrl }));
    expect(simulator.control.tasks('a lost boat')).toHaveLength(2);
    const found = await video.find?.({ ...lost, marker: 'mediary-t1-2' }, own);
    const ids = simulator.control.tasks('a lost boat').map(({ id }) => id);
    expect(found).toHaveLength(1);
    expect(ids).toContain(found?.[0]?.operation.id);
    expect(await video.find?.({ ...lost, marker: 'mediary-t1-3' }, own)).toEqual([]);
  });

  it('without an address is left to a person', async () => {
    const own = context('replicate-seedance-2.0');
    await upstreamError(video.submit(asked, own));
    expect(await video.find?.({ ...lost, marker: own.marker }, own)).toEqual([]);
  });
});

it('what has been removed after an hour has failed, and says why', async () => {
  const own = context('replicate-seedance-2.0');
  const { operation } = await video.submit(videoRequest(), own);
  simulator.control.advance(2 * 3600);
  expect(await video.status(operation, own)).toMatchObject({ state: 'failed', code: 'data_removed' });
});

it('a wrong value is a refusal that names its field', async () => {
  const own = context('replicate-seedance-2.0');
  const error = await upstreamError(video.submit(videoRequest({ resolution: '240p' }), own));
  expect([error.outcome, error.failure]).toEqual([
    'rejected',
    { class: 'invalid_input', field: 'resolution' },
  ]);
  expect(simulator.control.tasks()).toHaveLength(0);
});
