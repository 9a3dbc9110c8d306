import RunwayML from '@runwayml/sdk';
import { describe, expect, it } from 'vitest';
import { readClip } from '../../../workshop/simulator/media/clips.ts';
import type { ImageRequest, VideoRequest } from '../../../src/models/request.ts';
import { runway } from '../../../src/providers/runway/index.ts';
import { imageRequest, submitContext, upstreamError, videoIssue, videoRequest } from '../support.ts';
import { useSimulator } from '../use-simulator.ts';

/** Runway's adapter against the dialect of the simulator, beyond what all adapters have in common. */

const simulator = useSimulator({ renderSeconds: 8 });

const { video, imageTask } = runway;
if (video?.cancel === undefined || imageTask === undefined) throw new Error('a capability is missing');
const context = (model: string) =>
  submitContext({ request: simulator.request, baseUrl: `${simulator.url}/runway`, model });

const clipFile = new Blob([readClip('16x9')], { type: 'video/mp4' });
const picture = 'https://ex.com/a.png';
const clip = 'https://ex.com/a.mp4';
const song = 'https://ex.com/a.mp3';
const one: Partial<VideoRequest> = { firstFrame: picture };
const two: Partial<VideoRequest> = { firstFrame: picture, lastFrame: picture };
const edit: Partial<VideoRequest> = {
  videos: [clip],
  extra: { video_task: 'edit' },
};

describe('every kind of input is accepted, rendered and charged for', () => {
  it.each<[string, string, Partial<VideoRequest>, string]>([
    ['text', 'gen4.5', { ratio: '9:16', duration: 7, seed: 1 }, '140'],
    ['text about which nothing is said', 'gen4.5', {}, '100'],
    ['a first frame', 'gen4_turbo', { ...one, ratio: '21:9', duration: 10 }, '200'],
    ['veo', 'veo3', {}, '160'],
    ['two frames, silent', 'veo3.1', { ...two, resolution: '1080p', ratio: '9:16', duration: 4, generateAudio: false }, '80'],
    ['fast, with sound', 'veo3.1_fast', { ...one, duration: 6, ratio: '16:9' }, '120'],
    ['seedance', 'seedance2', { resolution: '480p', ratio: '4:3', duration: 4 }, '80'],
    ['seedance in 4k', 'seedance2', { resolution: '4k', ratio: '21:9', duration: 4 }, '80'],
    ['frames of seedance', 'seedance2', { ...two, resolution: '1080p', duration: 5 }, '100'],
    ['references', 'seedance2', { references: [picture], videos: [clip], audios: [song], duration: 5, ratio: '1:1' }, '100'],
    ['an edit', 'seedance2_fast', { ...edit, references: [picture], duration: 5, resolution: '720p' }, '100'],
    ['the newest of seedance', 'seedance2_5', { ...two, duration: 30, resolution: '480p', ratio: '9:16', seed: 4 }, '600'],
    ['grok with an image', 'grok_imagine_1_5', { ...one, resolution: '480p', duration: 1 }, '20'],
    ['hailuo', 'hailuo3', { resolution: '768p', duration: 5 }, '100'],
  ])('%s', async (_, model, asked, credits) => {
    const full = videoRequest(asked);
    expect(videoIssue(video, full, model)).toBeUndefined();
    const { operation } = await video.submit(full, context(model));
    simulator.control.advance(9);
    expect(await video.status(operation, context(model))).toMatchObject({
      state: 'succeeded',
      items: [{ url: expect.stringContaining('.mp4') }],
      cost: { amount: credits, unit: 'credits' },
    });
  }); // prettier-ignore

  it.each<[string, string, Partial<VideoRequest>]>([
    ['happyhorse with an image', 'happyhorse_1_0', { ...one, resolution: '1080p', duration: 3 }],
    ['happyhorse', 'happyhorse_1_0', { resolution: '1080p', ratio: '4:3', duration: 3 }],
    ['omni', 'gemini_omni_flash', { duration: 3, ratio: '16:9' }],
    ['an edit of omni', 'gemini_omni_flash', edit],
    [
      'a video that is continued',
      'seedance2_5',
      { videos: [clip], extra: { video_task: 'extend' }, duration: 6 },
    ],
    ['an edit of aleph', 'aleph2', { ...edit, ratio: '1:1', seed: 3 }],
    ['wan', 'wan3', { resolution: '480p', ratio: '16:9', duration: 2 }],
  ])('%s, at a price that is not known', async (_, model, asked) => {
    const full = videoRequest(asked);
    expect(videoIssue(video, full, model)).toBeUndefined();
    const { operation } = await video.submit(full, context(model));
    simulator.control.advance(9);
    expect(await video.status(operation, context(model))).toMatchObject({ state: 'succeeded' });
  });

  it.each<[string, string, Partial<ImageRequest>, number]>([
    ['an image', 'gen4_image', { size: '1920x1080', extra: { seed: 1 } }, 1],
    ['an image after a reference', 'gen4_image_turbo', { images: [{ form: 'url', url: picture }] }, 1],
    ['four images', 'gemini_image3.1_flash', { n: 4 }, 4],
  ])('%s', async (_, model, asked, count) => {
    const { operation } = await imageTask.submit(imageRequest(asked), context(model));
    simulator.control.advance(9);
    const status = await imageTask.status(operation, context(model));
    expect(status).toMatchObject({ state: 'succeeded', facts: { images: count } });
    expect(status.state === 'succeeded' && status.items.length).toBe(count);
  });
});

it('a job that waits for its account is queued, and one that is refused later says for what', async () => {
  const { operation } = await video.submit(
    videoRequest({ prompt: 'a boat [sim:moderation]' }),
    context('veo3.1'),
  );
  expect(await video.status(operation, context('veo3.1'))).toEqual({ state: 'pending', phase: 'submitted' });
  simulator.control.advance(9);
  expect(await video.status(operation, context('veo3.1'))).toMatchObject({
    state: 'failed',
    code: expect.stringContaining('SAFETY'),
    failure: { class: 'moderation_input' },
  });
});

it('a cancelled job is gone, a finished one keeps its files', async () => {
  const { operation } = await video.submit(videoRequest(), context('veo3.1'));
  expect(await video.cancel?.(operation, context('veo3.1'))).toBe('cancelled');
  expect((await upstreamError(video.status(operation, context('veo3.1')))).gone).toBe(true);
  const other = await video.submit(videoRequest(), context('veo3.1'));
  simulator.control.advance(9);
  expect(await video.cancel?.(other.operation, context('veo3.1'))).toBe('refused');
  expect(await video.status(other.operation, context('veo3.1'))).toMatchObject({ state: 'succeeded' });
});

it('an empty account is distinguished from a wrong request, though both are 400', async () => {
  const submit = (over: Partial<VideoRequest>) =>
    upstreamError(video.submit(videoRequest(over), context('veo3.1')));
  const empty = await submit({ prompt: 'a boat [sim:quota]' });
  expect([empty.status, empty.outcome, empty.failure.class]).toEqual([400, 'unavailable', 'quota']);
  const wrong = await submit({ seed: 4_294_967_296 });
  const failure = { class: 'invalid_input', field: 'seed' };
  expect([wrong.status, wrong.outcome, wrong.failure]).toEqual([400, 'rejected', failure]);
  const plain = await submit({ firstFrame: 'http://ex.com/a.png' });
  expect([plain.status, plain.outcome, plain.failure.class]).toEqual([400, 'rejected', 'invalid_input']);
  expect(simulator.control.tasks()).toHaveLength(0);
});

describe('an uploaded file', () => {
  const edited = (uri: string) => videoRequest({ ...edit, videos: [uri] });
  const sdk = () => new RunwayML({ apiKey: 'test-key', baseURL: `${simulator.url}/runway`, maxRetries: 0 });
  const refused = expect.objectContaining({ outcome: 'rejected', status: 400 });

  it('is named by our requests, and by those of the vendor’s client', async () => {
    const { url, keptMs } = (await runway.upload?.({ blob: clipFile, name: '0.mp4' }, context(''))) ?? {};
    expect([url, keptMs]).toEqual([expect.stringMatching(/^runway:\/\//), 86_400_000]);
    await video.submit(edited(url ?? ''), context('seedance2'));
    const { id } = await sdk().imageToVideo.create({
      model: 'gen4_turbo',
      promptImage: url ?? '',
      ratio: '1280:720',
      duration: 5,
    });
    expect(id).not.toBe('');
  });

  it('of the vendor’s client is named by ours', async () => {
    const file = new File([clipFile], 'boat.mp4');
    const { uri } = await sdk().uploads.createEphemeral({ file });
    expect(await video.submit(edited(uri), context('seedance2'))).toMatchObject({ operation: {} });
  });

  it('is refused where it is not there, or not any more', async () => {
    const { url = '' } = (await runway.upload?.({ blob: clipFile, name: '0.mp4' }, context(''))) ?? {};
    await expect(video.submit(edited('runway://nothing'), context('seedance2'))).rejects.toEqual(refused);
    simulator.control.advance(86_401);
    await expect(video.submit(edited(url), context('seedance2'))).rejects.toEqual(refused);
  });

  it('that the storage does not take is nobody’s file', async () => {
    const tiny = new Blob(['tiny'], { type: 'video/mp4' });
    await expect(runway.upload?.({ blob: tiny, name: '0.mp4' }, context(''))).rejects.toMatchObject({
      outcome: 'unavailable',
    });
  });
});
