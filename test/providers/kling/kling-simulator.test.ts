import { describe, expect, it } from 'vitest';
import type { VideoRequest } from '../../../src/models/request.ts';
import { createKling } from '../../../src/providers/kling/index.ts';
import { submitContext, upstreamError, videoIssue, videoRequest } from '../support.ts';
import { useSimulator } from '../use-simulator.ts';

/** Kling's adapter against the dialect of the simulator, beyond what all adapters have in common. */

const simulator = useSimulator({ renderSeconds: 8, apiKeys: ['test-key', 'access:secret'] });

const { video } = createKling(Date.now);
if (video === undefined) throw new Error('it renders no videos');
let submissions = 0;
const context = (model: string, apiKey = 'test-key') =>
  submitContext({
    request: simulator.request,
    baseUrl: `${simulator.url}/kling`,
    model,
    marker: `mediary-k-${(submissions += 1)}`,
    credential: { id: 'a', apiKey },
  });

const picture = 'https://ex.com/a.png';
const clip = 'https://ex.com/a.mp4';
const frames: Partial<VideoRequest> = { firstFrame: picture, lastFrame: picture };

describe('every kind of input is accepted, rendered and charged for', () => {
  it.each<[string, string, Partial<VideoRequest>, string, number]>([
    ['text', 'kling-3.0', { resolution: '1080p', duration: 5, generateAudio: true }, '6.00', 5],
    ['text of turbo', 'kling-3.0-turbo', { duration: 3, ratio: '1:1' }, '1.80', 3],
    ['one frame', 'kling-2.6', { firstFrame: picture }, '3.00', 5],
    ['two frames', 'kling-3.0', { ...frames, resolution: '4k' }, '15.00', 5],
    ['references', 'kling-o1', { references: [picture, picture], duration: 10 }, '6.00', 10],
    ['a video to follow', 'kling-3.0-omni', { references: [picture], videos: [clip] }, '4.50', 5],
    [
      'a video to edit',
      'kling-3.0-omni',
      { videos: [clip], generateAudio: true, extra: { video_task: 'edit' } },
      '4.50',
      5,
    ],
    [
      'the motion of a video',
      'kling-2.6',
      { references: [picture], videos: [clip], extra: { character_orientation: 'image' } },
      '4.50',
      5,
    ],
    ['references of 4.0', 'kling-4.0', { references: [picture], duration: 30 }, '18.00', 30],
    ['legacy text', 'kling-v2-6', { resolution: '1080p', duration: 10 }, '5', 10],
    ['a legacy frame', 'kling-v2-1', { firstFrame: picture }, '1.5', 5],
    ['legacy images', 'kling-v1-6', { references: [picture, picture] }, '1.5', 5],
    ['legacy omni', 'kling-v3-omni', { references: [picture], videos: [clip] }, '1.5', 5],
    ['legacy omni with frames', 'kling-video-o1', frames, '1.5', 5],
  ])('%s', async (_, model, asked, ...[amount, seconds]) => {
    const full = videoRequest(asked);
    expect(videoIssue(video, full, model)).toBeUndefined();
    const { operation } = await video.submit(full, context(model));
    simulator.control.advance(9);
    expect(await video.status(operation, context(model))).toMatchObject({
      state: 'succeeded',
      facts: { durationSeconds: seconds },
      cost: { amount, unit: 'video units' },
    });
  });
});

it('many jobs of both standards are reported as far as one answer can', async () => {
  const one = await video.submit(videoRequest(), context('kling-3.0'));
  const two = await video.submit(videoRequest(), context('kling-3.0'));
  const old = await video.submit(videoRequest(), context('kling-v2-6'));
  const gone = { id: '1' };
  const operations = [one.operation, two.operation, old.operation, gone];
  const found = await video.list?.(operations, context('kling-3.0'));
  expect([...(found?.keys() ?? [])]).toEqual([one.operation.id, two.operation.id]);
});

it('a key pair renders with the legacy standard, even after the simulated hours', async () => {
  const pair = () => context('kling-v2-6', 'access:secret');
  const { operation } = await video.submit(videoRequest(), pair());
  simulator.control.advance(7200);
  expect(await video.status(operation, pair())).toMatchObject({ state: 'succeeded' });
  const wrong = await upstreamError(video.submit(videoRequest(), context('kling-v2-6', 'access:wrong')));
  expect([wrong.outcome, wrong.code, wrong.failure.class]).toEqual(['unavailable', '1002', 'quota']);
});

it('a submission beyond the slots of the account waits, and made no job', async () => {
  for (let index = 0; index < 100; index += 1) await video.submit(videoRequest(), context('kling-3.0'));
  const full = await upstreamError(video.submit(videoRequest(), context('kling-3.0')));
  expect([full.outcome, full.code, full.failure.class]).toEqual(['throttled', '1303', 'capacity']);
  expect(simulator.control.tasks()).toHaveLength(100);
});
