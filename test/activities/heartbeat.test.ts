import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, it, vi } from 'vitest';
import { withHeartbeat, withRareHeartbeat } from '../../activities/heartbeat.ts';

/** What the server hears while `work` is under way, in a run whose predecessor left `remembered`. */
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

it('details of its own are in the first heartbeat, and soon', async () => {
  expect(await heard('before', { operation: { id: 'up' } })).toEqual([{ operation: { id: 'up' } }]);
});

it('without details it repeats what the run before has left', async () => {
  expect(await heard({ polls: 7 })).toEqual([{ polls: 7 }]);
});

/** How many heartbeats reach the server while an activity with this timeout works for that long. */
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
])('%s sends as few as its timeout allows, and is never taken for dead', async (_, heartbeat, most) => {
  const sentAt = await countOf(heartbeat, { timeoutMs: 60_000, workMs: 100_000 });
  expect(sentAt.length).toBeLessThanOrEqual(most);
  // A late timer, or a request that has to be repeated, must not end the attempt.
  const gaps = [...sentAt, 100_000].map((at, index) => at - (sentAt[index - 1] ?? 0));
  expect(Math.max(...gaps)).toBeLessThanOrEqual(35_000);
});

it('a short timeout is kept', async () => {
  const sentAt = await countOf(sends, { timeoutMs: 15_000, workMs: 30_000 });
  expect(sentAt.length).toBeGreaterThanOrEqual(6);
});
