import { CancellationScope, proxyActivities, sleep } from '@temporalio/workflow';
import type { NaiveActivities, NaiveInput } from './naive-activities.ts';

/**
 * What one writes first, and what `tasks` compares with: every step is a regular activity (six of them), the wait for
 * the upstream and the deadline are timers, and everything passes through Temporal.
 */

const { reserve, submit, poll, settle, save, notify } = proxyActivities<NaiveActivities>({
  startToCloseTimeout: '60s',
  retry: { initialInterval: '1s' },
});
const pollEvery = '1s';
const deadline = '48h';

export async function naiveTask(input: NaiveInput): Promise<string> {
  await reserve(input);
  const scope = new CancellationScope();
  const expired = scope.run(async () => {
    await sleep(deadline);
    return undefined;
  });
  expired.catch(() => undefined);
  const upstreamId = await submit(input);
  const outcome = await Promise.race([watch(input, upstreamId), expired]);
  scope.cancel();
  if (outcome === undefined) throw new Error('expired');
  await settle(input, outcome);
  await save(input, outcome);
  await notify(input, outcome);
  return outcome.url;
}

async function watch(input: NaiveInput, upstreamId: string) {
  for (;;) {
    await sleep(pollEvery);
    const outcome = await poll(input, upstreamId);
    if (outcome !== undefined) return outcome;
  }
}
