import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, it, vi } from 'vitest';
import { withHeartbeat, withRareHeartbeat } from '../../activities/heartbeat.ts';

async function heard(remembered: unknown, details?: unknown): Promise<unknown[]> {
  const environment = new MockActivityEnvironment({ heartbeatDetails: remembered });
  const heartbeats: unknown[] = [];
  const first = new Promise<void>((resolve) => {
    environment.on('heartbeat', (beat: unknown) => {
      heartbeats.push(beat);
      resolve();
    });
  });
  await environment.run(() => withHeartbeat(first, details));
  return heartbeats;
}

it('sends its own details soon, in the first heartbeat', async () => {
  expect(await heard('before', { operation: { id: 'up' } })).toEqual([{ operation: { id: 'up' } }]);
});

it('without details of its own, repeats those of the previous run', async () => {
  expect(await heard({ polls: 7 })).toEqual([{ polls: 7 }]);
});

async function countOf(
  heartbeat: typeof stays,
  { timeoutMs, workMs }: { timeoutMs: number; workMs: number },
) {
  vi.useFakeTimers();
  try {
    const environment = new MockActivityEnvironment({ heartbeatTimeoutMs: timeoutMs });
    const sentAt: number[] = [];
    const begun = Date.now();
    environment.on('heartbeat', () => sentAt.push(Date.now() - begun));
    const work = new Promise<void>((resolve) => setTimeout(resolve, workMs));
    const run = environment.run(() => heartbeat(work));
    await vi.advanceTimersByTimeAsync(workMs);
    await run;
    return sentAt;
  } finally {
    vi.useRealTimers();
  }
}

const stays = (work: Promise<void>) => withRareHeartbeat(work, { details: () => 1, isQuiet: () => false });
const sends = (work: Promise<void>) => withHeartbeat(work);

it.each([
  ['a wait', stays, 3],
  ['a submission', sends, 6],
])('%s sends as few as its timeout allows without being considered dead', async (_, heartbeat, most) => {
  const sentAt = await countOf(heartbeat, { timeoutMs: 60_000, workMs: 100_000 });
  expect(sentAt.length).toBeLessThanOrEqual(most);
  const gaps = [...sentAt, 100_000].map((at, index) => at - (sentAt[index - 1] ?? 0));
  expect(Math.max(...gaps)).toBeLessThanOrEqual(35_000);
});

it('a short timeout is respected', async () => {
  const sentAt = await countOf(sends, { timeoutMs: 15_000, workMs: 30_000 });
  expect(sentAt.length).toBeGreaterThanOrEqual(6);
});
