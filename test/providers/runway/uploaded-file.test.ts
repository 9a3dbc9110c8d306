import RunwayML from '@runwayml/sdk';
import { describe, expect, it } from 'vitest';
import { readClip } from '../../../workshop/simulator/media/clips.ts';
import { runway } from '../../../src/providers/runway/index.ts';
import { submitContext, videoRequest } from '../support.ts';
import { useSimulator } from '../use-simulator.ts';

const simulator = useSimulator({ renderSeconds: 8 });

const { video } = runway;
if (video === undefined) throw new Error('it renders no videos');
const context = (model: string) =>
  submitContext({ request: simulator.request, baseUrl: `${simulator.url}/runway`, model });

const clipFile = new Blob([readClip('16x9')], { type: 'video/mp4' });

describe('an uploaded file', () => {
  const edited = (uri: string) => videoRequest({ videos: [uri], extra: { video_task: 'edit' } });
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

  it('is refused if it does not exist, or no longer does', async () => {
    const { url = '' } = (await runway.upload?.({ blob: clipFile, name: '0.mp4' }, context(''))) ?? {};
    await expect(video.submit(edited('runway://nothing'), context('seedance2'))).rejects.toEqual(refused);
    simulator.control.advance(86_401);
    await expect(video.submit(edited(url), context('seedance2'))).rejects.toEqual(refused);
  });

  it('that the storage refuses cannot be uploaded', async () => {
    const tiny = new Blob(['tiny'], { type: 'video/mp4' });
    await expect(runway.upload?.({ blob: tiny, name: '0.mp4' }, context(''))).rejects.toMatchObject({
      outcome: 'unavailable',
    });
  });
});
