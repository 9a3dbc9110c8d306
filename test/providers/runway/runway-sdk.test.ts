import { describe, expect, it } from 'vitest';
import type { ImageRequest, VideoRequest } from '../../../src/models/request.ts';
import { runway } from '../../../src/providers/runway/index.ts';
import { findContradictions, literalsOf } from '../../support/sdk-types.ts';
import { canned, fixture, imageIssue, imageRequest, submitContext, videoIssue } from '../support.ts';
import { videoRequest } from '../support.ts';
import { sdkBodies } from './runway-sdk.ts';

/** Everything that the adapter accepts, it must send as the vendor's SDK declares it. */

const { video, imageTask } = runway;
if (video === undefined || imageTask === undefined) throw new Error('a capability is missing');

const picture = 'https://ex.com/a.png';
const clip = 'https://ex.com/a.mp4';
const song = 'https://ex.com/a.mp3';

const inputs: readonly Partial<VideoRequest>[] = [
  {},
  { references: [picture] },
  { references: [picture, picture] },
  { firstFrame: picture },
  { firstFrame: picture, lastFrame: picture },
  { videos: [clip] },
  { audios: [song] },
  { references: [picture], videos: [clip], audios: [song] },
  { videos: [clip], extra: { video_task: 'edit' } },
  { videos: [clip], extra: { video_task: 'extend' } },
  { references: [picture], videos: [clip], extra: { video_task: 'edit' } },
];
const resolutions = [undefined, '360p', '480p', '720p', '768p', '1080p', '2K', '4K'];
const ratios = [undefined, 'adaptive', '16:9', '9:16', '4:3', '3:4', '1:1', '21:9', '3:2', '2:3', '5:4'];
const others: readonly Partial<VideoRequest>[] = [
  { prompt: '' },
  { seed: 7 },
  { extra: { negative_prompt: 'rain' } },
  { generateAudio: true },
  { generateAudio: false },
  { duration: 'auto' },
  ...[1, 4, 5, 6, 8, 10, 15, 30].map((duration) => ({ duration })),
];
const videoRequests = inputs.flatMap((input) => [
  ...resolutions.flatMap((resolution) =>
    ratios.map((ratio) =>
      videoRequest({
        ...input,
        ...(resolution === undefined ? {} : { resolution }),
        ...(ratio === undefined ? {} : { ratio }),
      }),
    ),
  ),
  ...others.map((other) => videoRequest({ ...input, ...other })),
]);

const url = { form: 'url', url: picture } as const;
const imageOthers: readonly Partial<ImageRequest>[] = [
  { images: [url] },
  { extra: { seed: 7, contentModeration: { publicFigureThreshold: 'low' } } },
  { extra: { background: 'opaque', outputFormat: 'png', grounding: true, edit: true } },
  ...[1, 2, 4, 10].map((n) => ({ n })),
  ...['low', 'medium', 'high', 'auto', 'xhigh', 'max'].map((quality) => ({ quality })),
];

/** Includes one size that the SDK does not declare for any model. */
const sizes = [
  ...new Set(
    sdkBodies
      .filter(({ path }) => path === 'text_to_image')
      .flatMap(({ fields }) => literalsOf(fields.get('ratio')?.type ?? ''))
      .map((ratio) => ratio.replace('auto_', '').replace(':', 'x')),
  ),
  '123x456',
];
const imageRequests = [{}, { images: [url] }].flatMap((input) => [
  ...sizes.map((size) => imageRequest({ ...input, size })),
  ...imageOthers.map((other) => imageRequest({ ...input, ...other })),
]);

interface Sent {
  readonly path: string;
  readonly json: object;
}

async function sentBy(
  submit: (context: ReturnType<typeof submitContext>) => Promise<unknown>,
): Promise<Sent> {
  const upstream = canned({ json: fixture('runway/created') });
  await submit(submitContext({ request: upstream.request }));
  const [sent] = upstream.sent;
  return { path: sent?.url.split('/v1/')[1] ?? '', json: sent?.json ?? {} };
}

async function allSent(model: string): Promise<readonly Sent[]> {
  const sent: Promise<Sent>[] = [];
  for (const request of videoRequests)
    if (videoIssue(video, request, model) === undefined)
      sent.push(sentBy(async (context) => video?.submit(request, { ...context, model })));
  return Promise.all(sent);
}

async function allImages(model: string): Promise<readonly Sent[]> {
  const sent: Promise<Sent>[] = [];
  for (const request of imageRequests)
    if (imageIssue(imageTask, request, model) === undefined)
      sent.push(sentBy(async (context) => imageTask?.submit(request, { ...context, model })));
  return Promise.all(sent);
}

const videoModels = [
  ...new Set(sdkBodies.filter(({ path }) => path !== 'text_to_image').map(({ model }) => model)),
];
const imageModels = sdkBodies.filter(({ path }) => path === 'text_to_image').map(({ model }) => model);

describe.each([
  ...videoModels.map((model) => [model, allSent] as const),
  ...imageModels.map((model) => [model, allImages] as const),
])('%s', (model, send) => {
  it('receives only what the vendor’s SDK declares', async () => {
    const sent = await send(model);
    const bodies = sdkBodies.filter((body) => body.model === model);
    const contradictions = sent.flatMap(({ path, json }) => {
      const body = bodies.find((one) => one.path === path);
      if (body === undefined) return [`${path} is not declared`];
      return findContradictions(json, body.name, body.types).map((words) => `${path} ${words}`);
    });
    expect([...new Set(contradictions)]).toEqual([]);
    for (const body of bodies) expect(sent.map(({ path }) => path)).toContain(body.path);
  });
});
