import { attentionReasons } from '../../src/task/attention.ts';
import { failureClasses } from '../../src/errors/failure.ts';
import { stateNames, type StateName } from '../../src/task/state.ts';
import { waitReasons } from '../../src/task/wait.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import type { UpstreamResult, UpstreamStep } from '../../src/observability/meter.ts';
import { parseScrape, type Series } from './scrape.ts';

const steps: readonly UpstreamStep[] = [
  'submit', 'status', 'list', 'find', 'cancel', 'generate', 'resume',
]; // prettier-ignore
const results: readonly UpstreamResult[] = [
  'ok', 'not_sent', 'throttled', 'unavailable', 'rejected', 'ambiguous', 'adapter_failed',
]; // prettier-ignore
const states: readonly StateName[] = stateNames.filter((name) => name !== 'ended');

export async function everyMetric(channels: readonly string[]): Promise<readonly Series[]> {
  const metrics = createMetrics({ configVersion: () => 'abc' });
  metrics.observeRequest('create_video', 200, 1);
  metrics.countCreate('created');
  metrics.countImageFailure('capacity');
  metrics.countCollision();
  metrics.beginAppend()();
  for (const channel of channels) {
    metrics.countMargin(2n, { channel, cost: 1n, unknown: 1 });
    for (const step of steps) for (const result of results) metrics.beginUpstream(channel, step)(result);
    for (const outcome of ['succeeded', ...failureClasses] as const) metrics.countEnded(channel, outcome);
  }
  metrics.showCensus({
    at: 1,
    currency: 'USD',
    tasks: channels.flatMap((channel) =>
      states.flatMap((state) => waitReasons.map((wait) => ({ state, channel, wait, count: 1, since: 0 }))),
    ),
    attention: attentionReasons.map((reason) => ({ reason, channel: 'ark', count: 1, since: 0 })),
    money: { available: 1n, held: 1n, overdrawn: 0 },
    slots: channels.map((channel) => ({ channel, inUse: 1, limit: 2 })),
    health: channels.map((channel) => ({
      channel,
      state: 'ill' as const,
      text: 'x',
      opened: { hour: 1, day: 1 },
      parts: [],
    })),
    callbacks: [{ state: 'due', count: 1, since: 0 }],
    copies: [{ state: 'retry', count: 1 }],
    verification: { startedAt: 1, endedAt: 1, violations: 1 },
  });
  return parseScrape(await metrics.render()).filter(({ name }) => name.startsWith('mediary_'));
}
