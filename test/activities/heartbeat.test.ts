import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, it } from 'vitest';
import { withHeartbeat } from '../../activities/heartbeat.ts';

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
