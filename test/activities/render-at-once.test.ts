import { expect, it } from 'vitest';
import { renderAtOnce } from '../../activities/render-at-once.ts';
import { NoRoomError } from '../../src/errors/not-stored.ts';
import { createUnstoredImages } from '../../src/images/unstored-images.ts';
import { createLogger } from '../../src/observability/log.ts';

const bytesMax = 1_000;
const hangs = () => new Promise<never>(() => undefined);

async function rendered(crowdBytes: number, refusal = new Error('the storage is away')) {
  const unstoredImages = createUnstoredImages(bytesMax);
  void unstoredImages.hold({ account: 'others', bytes: crowdBytes }, hangs);
  let tries = 0;
  let clock = 0;
  const image = { base64: 'x'.repeat(400) };
  const answer = await renderAtOnce(
    {
      task: { id: 'task_a', account: 'a', kind: 'image', model: 'm' },
      marker: 'marker',
      channel: { config: { timeouts: { image_ms: 60_000 } } },
    } as never,
    {
      unstoredImages,
      renderImages: async () => ({ kind: 'delivered', delivery: { images: [image], facts: { images: 1 } } }),
      keepImages: async () => {
        tries += 1;
        clock += 10 * 60_000;
        throw refusal;
      },
      log: createLogger({ level: 'silent', format: 'json' }),
      now: () => clock,
    } as never,
  );
  return { answer, tries };
}

it('fail the task when the activity runs out of time, and are charged to nobody', async () => {
  const { answer, tries } = await rendered(0, new NoRoomError('the disk is full'));
  expect(tries).toBe(2);
  expect(answer).toMatchObject({
    outcome: {
      kind: 'failed',
      code: 'result_not_kept',
      message: 'The upstream rendered the images, but the storage for results had no room for them.',
    },
  });
});

it('are offered to the storage once if too many others are already waiting', async () => {
  const { answer, tries } = await rendered(700);
  expect(tries).toBe(1);
  expect(answer).toMatchObject({
    outcome: {
      kind: 'failed',
      code: 'result_not_kept',
      message:
        'The upstream rendered the images, but the storage for results did not respond, and too many others were waiting for it.',
    },
  });
});

it('block further renders meanwhile, and may wait even if one result exceeds the memory', async () => {
  const images = createUnstoredImages(bytesMax);
  await images.hold({ account: 'a', bytes: 10 * bytesMax }, async (mayWait) => {
    expect([images.mayRender('a'), images.mayRender('b')]).toEqual([false, true]);
    expect(mayWait()).toBe(true);
    expect(images.mayRender('b')).toBe(false);
  });
  expect([images.mayRender('a'), images.mayRender('b')]).toEqual([true, true]);
});
