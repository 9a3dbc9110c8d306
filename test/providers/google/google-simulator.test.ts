import { describe, expect, it } from 'vitest';
import type { VideoRequest } from '../../../src/models/request.ts';
import { google } from '../../../src/providers/google/index.ts';
import {
  imageIssue,
  imageRequest,
  providerContext,
  submitContext,
  upstreamError,
  videoIssue,
  videoRequest,
} from '../support.ts';
import { useSimulator } from '../use-simulator.ts';

/** Google's adapter against the dialect of the simulator, beyond what all adapters have in common. */

const simulator = useSimulator({ renderSeconds: 8 });

const { video, image } = google;
if (video === undefined || image === undefined) throw new Error('it makes both');
const gemini = '/google/v1beta';
const vertex = '/google/v1/projects/p1/locations/us-central1/publishers/google';
const context = (model: string) =>
  submitContext({
    request: simulator.request,
    baseUrl: simulator.url + (model.includes('@') ? vertex : gemini),
    model,
  });

const data = 'data:image/png;base64,iVBORw0KGgo=';
const picture = 'https://ex.com/a.png';
const clip = 'https://ex.com/a.mp4';
const omni = 'gemini-omni-1.1-flash';
const veo = 'veo-3.1-generate-preview';
const veoOnVertex = 'veo-3.1-generate-001@gs://bucket/folder';
const own = /\/google\/v1beta\/files\//;
const stored = /^https:\/\/storage\.googleapis\.com\/bucket\/folder\//;

describe('every kind of input is accepted and rendered', () => {
  it.each<[string, string, Partial<VideoRequest>, RegExp]>([
    ['text', omni, { duration: 10, resolution: '1080p', ratio: '9:16' }, own],
    ['a first frame', omni, { firstFrame: data }, own],
    ['references', omni, { references: [data, picture] }, own],
    ['a video to edit', omni, { videos: [clip] }, own],
    ['a video to extend', 'gemini-omni-1.2-flash', { videos: [clip], extra: { video_task: 'extend' } }, own],
    [
      'a video to upscale',
      omni,
      { videos: [clip], resolution: '4k', ratio: '16:9', duration: 5, extra: { video_task: 'upscale' } },
      own,
    ],
    ['text of Vertex', `${omni}@gs://bucket/folder`, { duration: 5 }, stored],
    [
      'text of Veo',
      veo,
      { duration: 4, extra: { negative_prompt: 'rain', person_generation: 'allow_adult' } },
      own,
    ],
    ['frames of Veo', veo, { firstFrame: data, lastFrame: data, duration: 8 }, own],
    ['references of Veo', veo, { references: [data, data, data], duration: 8 }, own],
    ['Veo of Vertex', veoOnVertex, { duration: 6, seed: 1, generateAudio: false }, stored],
    [
      'frames of Veo of Vertex',
      veoOnVertex,
      { firstFrame: data, lastFrame: 'gs://b/a.png', duration: 8 },
      stored,
    ],
  ])('%s', async (_, model, asked, link) => {
    const full = videoRequest(asked);
    expect(videoIssue(video, full, model)).toBeUndefined();
    const { operation } = await video.submit(full, context(model));
    simulator.control.advance(9);
    const status = await video.status(operation, context(model));
    expect(status).toMatchObject({ state: 'succeeded', items: [{ url: expect.stringMatching(link) }] });
  });
});

it('a video that was refused is reported in both houses', async () => {
  for (const model of [omni, veo, veoOnVertex]) {
    const asked = videoRequest({ prompt: 'x [sim:moderation-in-task]', duration: 8 });
    const { operation } = await video.submit(asked, context(model));
    simulator.control.advance(9);
    expect(await video.status(operation, context(model))).toMatchObject({
      state: 'failed',
      failure: { class: 'moderation_output' },
    });
  }
});

it.each([
  [{ resolution: '4k' }],
  [{ references: ['data:image/png;base64,iVBORw0KGgo='] }],
  [{ videos: [clip] }],
] satisfies [Partial<VideoRequest>][])('Veo 3.1 Lite refuses %j, and the check does', async (asked) => {
  const model = 'veo-3.1-lite-generate-preview';
  const full = videoRequest({ duration: 8, ...asked });
  expect(videoIssue(video, full, model)).toBeDefined();
  const at = submitContext({ request: simulator.request, baseUrl: simulator.url + gemini, model });
  expect((await upstreamError(video.submit(full, at))).failure.class).toBe('invalid_input');
});

it.each([
  ['gemini-3.1-flash-image', '512', 1],
  ['gemini-3.1-flash-lite-image', '1K', 1],
  ['gemini-3.1-flash-lite-image', '2K', 0],
  ['gemini-nano-banana-2.1', '512', 0],
])('%s makes an image of %s: %i', async (model, size, count) => {
  simulator.control.setRenderSeconds(0);
  const request = imageRequest({ size });
  expect(imageIssue(image, request, model) === undefined ? 1 : 0).toBe(count);
  const at = providerContext({ request: simulator.request, baseUrl: simulator.url + gemini, model });
  const made = await image.generate(request, at).catch((error: unknown) => error);
  expect(made instanceof Error ? 0 : 1).toBe(count);
});

it('images with references come in the size asked for, and not when they are refused', async () => {
  simulator.control.setRenderSeconds(0);
  const at = providerContext({
    request: simulator.request,
    baseUrl: simulator.url + gemini,
    model: 'gemini-nano-banana-2.1',
  });
  const input = { form: 'data', mediaType: 'image/png', base64: 'iVBORw0KGgo=' } as const;
  const made = await image.generate(imageRequest({ size: '1344x768', images: [input] }), at);
  expect(made.images).toHaveLength(1);
  expect(made.facts.usage?.totalTokens).toBeGreaterThan(0);
  const refused = image.generate(imageRequest({ prompt: 'x [sim:moderation-in-task]' }), at);
  expect((await upstreamError(refused)).failure.class).toBe('moderation_output');
});
