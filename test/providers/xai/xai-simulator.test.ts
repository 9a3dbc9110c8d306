import { expect, it } from 'vitest';
import type { ImageInput, ImageRequest, VideoRequest } from '../../../src/models/request.ts';
import { xai } from '../../../src/providers/xai/index.ts';
import {
  imageIssue,
  imageRequest,
  submitContext,
  upstreamError,
  videoIssue,
  videoRequest,
} from '../support.ts';
import { useSimulator } from '../use-simulator.ts';

/** Grok Imagine's adapter against the dialect of the simulator, beyond what all adapters have in common. */

const simulator = useSimulator({ renderSeconds: 8 });

const { video, image } = xai;
if (video === undefined || image === undefined) throw new Error('a capability is missing');
const context = (model: string) =>
  submitContext({ request: simulator.request, baseUrl: `${simulator.url}/xai/v1`, model });

const picture = 'https://ex.com/a.png';
const data = 'data:image/png;base64,iVBORw0KGgo=';
const sound = 'https://ex.com/a.mp3';
const clip = 'https://ex.com/a.mp4';
const reference = (...images: string[]): Partial<VideoRequest> => ({ references: images });
const edit: Partial<VideoRequest> = { videos: [clip] };

it.each<[string, string, Partial<VideoRequest>, object]>([
  ['text', 'grok-imagine-video', {}, { durationSeconds: 8 }],
  [
    'text at 1080p',
    'grok-imagine-video-1.5',
    { resolution: '1080p', ratio: '9:16', duration: 15, generateAudio: false },
    { durationSeconds: 15 },
  ],
  ['a frame', 'grok-imagine-video-1.5-lite', { firstFrame: data, duration: 5 }, { durationSeconds: 5 }],
  [
    'two frames',
    'grok-imagine-video-1.5',
    { firstFrame: picture, lastFrame: data, duration: 5 },
    { durationSeconds: 5 },
  ],
  [
    'references and a voice',
    'grok-imagine-video-1.5',
    { ...reference(picture, picture), extra: { reference_audios: [{ voice_id: 'ara' }] }, duration: 5 },
    { durationSeconds: 5 },
  ],
  [
    'sounds and a voice',
    'grok-imagine-video-1.5',
    { audios: [sound, sound], extra: { reference_audios: [{ voice_id: 'ara' }] }, duration: 5 },
    { durationSeconds: 5 },
  ],
  [
    'images within the film',
    'grok-imagine-video-1.5',
    { extra: { keyframes: [{ image: { url: picture }, timestamp_s: 2.5 }] }, duration: 5 },
    { durationSeconds: 5 },
  ],
  ['an edit', 'grok-imagine-video', { ...edit, duration: 8, resolution: '480p' }, {}],
  ['an extension', 'grok-imagine-video', { ...edit, duration: 6, extra: { video_task: 'extend' } }, {}],
])('%s is accepted, rendered and charged for', async (_, model, asked, facts) => {
  const full = videoRequest(asked);
  expect(videoIssue(video, full, model)).toBeUndefined();
  const { operation } = await video.submit(full, context(model));
  simulator.control.advance(9);
  const status = await video.status(operation, context(model));
  expect(status).toMatchObject({
    state: 'succeeded',
    facts,
    cost: { amount: expect.stringMatching(/^\d+(\.\d+)?$/), unit: 'USD' },
  });
});

it.each<[string, string, Partial<VideoRequest>]>([
  ['sounds of the first', 'grok-imagine-video', { audios: [sound] }],
  ['sounds of lite', 'grok-imagine-video-1.5-lite', { audios: [sound] }],
  ['references of lite', 'grok-imagine-video-1.5-lite', reference(picture)],
  ['four sounds', 'grok-imagine-video-1.5', { audios: Array.from({ length: 4 }, () => sound) }],
  ['1080p of sounds', 'grok-imagine-video-1.5', { audios: [sound], resolution: '1080p' }],
])('both refuse %s', async (_, model, asked) => {
  const full = videoRequest(asked);
  expect(videoIssue(video, full, model)).toBeDefined();
  const error = await upstreamError(video.submit(full, context(model)));
  expect([error.outcome, error.failure.class]).toEqual(['rejected', 'invalid_input']);
});

it.each<[string, Partial<ImageRequest>, number]>([
  ['the best quality', { quality: 'high' }, 1],
  ['text', { size: '1280x720', quality: 'low' }, 1],
  ['several as base64', { n: 2, responseFormat: 'b64_json' }, 2],
  [
    'two images',
    {
      images: [
        { form: 'data', mediaType: 'image/png', base64: 'iVBORw0KGgo=' } satisfies ImageInput,
        { form: 'url', url: picture } satisfies ImageInput,
      ],
    },
    1,
  ],
])('images of %s', async (_, asked, count) => {
  simulator.control.setRenderSeconds(0);
  const full = imageRequest(asked);
  expect(imageIssue(image, full, 'grok-imagine-image-2.0')).toBeUndefined();
  const { images, cost } = await image.generate(full, context('grok-imagine-image-2.0'));
  expect([images.length, cost?.unit]).toEqual([count, 'USD']);
});
