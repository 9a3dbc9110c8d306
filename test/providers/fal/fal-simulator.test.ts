import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { parseGatewayConfig } from '../../../src/config/gateway-file.ts';
import type { ImageRequest, VideoRequest } from '../../../src/models/request.ts';
import { adapters } from '../../../src/providers/index.ts';
import { fal } from '../../../src/providers/fal/index.ts';
import type { UpstreamCallback } from '../../../src/providers/provider.ts';
import {
  imageIssue,
  imageRequest,
  submitContext,
  upstreamError,
  videoIssue,
  videoRequest,
} from '../support.ts';
import { useSimulator } from '../use-simulator.ts';

/** fal's adapter with the mappings of gateway.example.yaml, against the dialect of the simulator. */

const simulator = useSimulator({ renderSeconds: 8 });

const { video, imageTask } = fal;
if (video?.cancel === undefined || imageTask === undefined) throw new Error('a capability is missing');
const { cancel } = video;

const text = readFileSync(new URL('../../../gateway.example.yaml', import.meta.url), 'utf8');
const environment = Object.fromEntries(
  Array.from(text.matchAll(/\$\{(\w+)\}/g), ([, name = '']) => [name, 'x'] as const),
);
const { channels } = parseGatewayConfig(text, 'gateway.example.yaml', { environment, ...adapters });
const served = channels.find(({ provider }) => provider === 'fal')?.models ?? {};

function context(name: string) {
  const { upstream = '', mapping } = served[name] ?? {};
  if (mapping === undefined) throw new Error(`the example has no ${name}`);
  return submitContext({
    request: simulator.request,
    baseUrl: `${simulator.url}/fal`,
    model: upstream,
    mapping,
  });
}

const seedance = 'fal-seedance-2.0';
const picture = 'https://ex.com/a.png';

it('the example serves three models', () => {
  expect(Object.keys(served)).toHaveLength(3);
});

describe('every kind of input is accepted and rendered', () => {
  it.each<[string, string, Partial<VideoRequest>]>([
    ['text', seedance, { resolution: '480p', ratio: '9:16', duration: 7, generateAudio: false, extra: { bitrate_mode: 'high' } }],
    ['text about which nothing is said', seedance, {}],
    ['a length of its own', seedance, { duration: 'auto', ratio: 'adaptive' }],
    ['a first frame', seedance, { firstFrame: picture }],
    ['two frames', seedance, { firstFrame: picture, lastFrame: picture }],
    ['references', seedance, { references: [picture], videos: ['https://ex.com/a.mp4'], audios: ['https://ex.com/a.mp3'] }],
    ['another model', 'fal-kling-3.0-pro', { resolution: '1080p', ratio: '1:1', duration: 15, extra: { negative_prompt: 'rain' } }],
    ['another model, two frames', 'fal-kling-3.0-pro', { firstFrame: picture, lastFrame: picture, generateAudio: true }],
  ])('%s', async (_, name, asked) => {
    const full = videoRequest(asked);
    const own = context(name);
    expect(videoIssue(video, full, own.model, own.mapping)).toBeUndefined();
    const { operation } = await video.submit(full, own);
    expect(await video.status(operation, own)).toEqual({
      state: 'pending',
      phase: 'submitted',
      queuePosition: 0,
    });
    simulator.control.advance(9);
    const status = await video.status(operation, own);
    expect(status).toMatchObject({
      state: 'succeeded',
      items: [{ url: expect.stringContaining('.mp4') }],
    });
    expect(status.state === 'succeeded' && status.cost?.unit).toBe(name === seedance ? 'USD' : undefined);
  }); // prettier-ignore

  it.each<[string, Partial<ImageRequest>]>([
    ['text', { size: '1536x1024', extra: { seed: 1, output_format: 'webp' } }],
    ['an image', { size: '1024x1024', images: [{ form: 'url', url: picture }] }],
  ])('an image of %s', async (_, asked) => {
    const own = context('fal-flux-2-pro');
    const full = imageRequest(asked);
    expect(imageIssue(imageTask, full, own.model, own.mapping)).toBeUndefined();
    const { operation } = await imageTask.submit(full, own);
    simulator.control.advance(9);
    expect(await imageTask.status(operation, own)).toMatchObject({
      state: 'succeeded',
      facts: { images: 1 },
    });
  });

  it('but an image that is withheld is none', async () => {
    const own = context('fal-flux-2-pro');
    const asked = imageRequest({ prompt: 'x [sim:item-moderation]', size: '1024x1024' });
    const { operation } = await imageTask.submit(asked, own);
    simulator.control.advance(9);
    expect(await imageTask.status(operation, own)).toMatchObject({
      state: 'failed',
      failure: { class: 'moderation_output' },
      withheld: [expect.stringContaining('http')],
    });
  });
});

it('those that wait are counted', async () => {
  const own = context(seedance);
  await video.submit(videoRequest(), own);
  const { operation } = await video.submit(videoRequest(), own);
  expect(await video.status(operation, own)).toMatchObject({ queuePosition: 1 });
});

describe('an end', () => {
  it.each([
    ['internal_server_error', 'internal'],
    ['generation_timeout', 'internal'],
    ['downstream_service_error', 'internal'],
    ['downstream_service_unavailable', 'capacity'],
    ['runner_disconnected', 'internal'],
    ['client_disconnected', 'cancelled'],
    ['bad_request', 'invalid_input'],
    ['image_too_small', 'invalid_input'],
    ['no_media_generated', 'moderation_output'],
  ])('of type %s is of class %s', async (type, expected) => {
    const own = context(seedance);
    const { operation } = await video.submit(videoRequest({ prompt: `x [sim:failed=${type}]` }), own);
    simulator.control.advance(9);
    expect(await video.status(operation, own)).toMatchObject({
      state: 'failed',
      code: expected === 'cancelled' ? 'upstream_cancelled' : type,
      failure: { class: expected },
    });
  });

  it('for a wrong value names its field, at the result or at once', async () => {
    const own = context(seedance);
    const failure = { class: 'invalid_input', field: 'resolution' };
    const { operation } = await video.submit(videoRequest({ resolution: '240p' }), own);
    simulator.control.advance(9);
    expect(await video.status(operation, own)).toMatchObject({ state: 'failed', failure });
    const error = await upstreamError(
      video.submit(videoRequest({ prompt: 'x [sim:docs-shape]', resolution: '240p' }), own),
    );
    expect([error.outcome, error.failure]).toEqual(['rejected', failure]);
  });

  it('at once where the balance is exhausted, or the app is not known', async () => {
    const own = context(seedance);
    const poor = await upstreamError(video.submit(videoRequest({ prompt: 'x [sim:quota]' }), own));
    const { mapping } = served['fal-seedance-2.0'] ?? {};
    if (mapping === undefined) throw new Error('the example has no mapping');
    const endpoints = { text_to_video: 'some-one/else' };
    const other = { ...own, mapping: { ...mapping, endpoints } };
    const absent = await upstreamError(video.submit(videoRequest(), other));
    for (const { outcome, failure } of [poor, absent])
      expect([outcome, failure.class]).toEqual(['unavailable', 'quota']);
  });
});

describe('a cancellation where the vendor leaves it open', () => {
  it('stops what runs, and leaves no result: the history says what became of it', async () => {
    const own = context(seedance);
    const { operation } = await video.submit(videoRequest({ prompt: 'x [sim:docs-shape]' }), own);
    simulator.control.advance(4);
    expect(await video.status(operation, own)).toMatchObject({ phase: 'running' });
    expect(await cancel(operation, own)).toBe('cancelled');
    expect(await cancel(operation, own)).toBe('cancelled');
  });

  it('is a signal only: what runs may finish', async () => {
    const own = context(seedance);
    const { operation } = await video.submit(videoRequest(), own);
    simulator.control.advance(4);
    expect(await cancel(operation, own)).toBe('refused');
    simulator.control.advance(9);
    expect(await video.status(operation, own)).toMatchObject({ state: 'succeeded' });
  });
});

describe('a lost job', () => {
  const asked = videoRequest({ prompt: 'a lost boat [sim:accepted-then-silent]' });
  const lost = { request: asked, sentAfter: Date.now() - 60_000, sentBefore: Date.now() + 86_400_000 };

  it('is found by its marker, among those of other attempts', async () => {
    const own = context(seedance);
    for (const marker of ['mediary-t1-1', 'mediary-t1-2'])
      await upstreamError(video.submit(asked, { ...own, marker }));
    const ids = simulator.control.tasks('a lost boat').map(({ id }) => id);
    expect(ids).toHaveLength(2);
    const found = await video.find?.({ ...lost, marker: 'mediary-t1-2' }, own);
    expect(found).toHaveLength(1);
    expect(ids).toContain(found?.[0]?.operation.id);
    expect(await video.find?.({ ...lost, marker: 'mediary-t1-3' }, own)).toEqual([]);
  });

  it('of a model without a field for it is left to a person', async () => {
    const own = context('fal-kling-3.0-pro');
    await upstreamError(video.submit(asked, own));
    expect(await video.find?.({ ...lost, marker: own.marker }, own)).toEqual([]);
  });
});

it('what the simulator signs is genuine, and says that the job ended', async () => {
  const received: UpstreamCallback[] = [];
  const listener = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const raw = Buffer.concat(chunks);
      const header = (name: string) => [incoming.headers[name]].flat()[0];
      received.push({ raw, header, body: JSON.parse(raw.toString('utf8')) });
      response.end();
      listener.emit('received');
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const own = context(seedance);
  const arrival = once(listener, 'received');
  await video.submit(videoRequest(), { ...own, callbackUrl: `http://127.0.0.1:${port}/callbacks` });
  simulator.control.advance(9);
  await arrival;
  listener.close();
  const [first] = received;
  if (first === undefined) throw new Error('nothing came');
  expect(video.parseCallback?.(first)).toEqual({ ended: true });
  const now = Date.now();
  expect(await video.verifyCallback?.(first, { ...own, now })).toBe(true);
  const forged = { ...first, raw: Buffer.from('{"status":"OK"}') };
  expect(await video.verifyCallback?.(forged, { ...own, now })).toBe(false);
});
