import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/observability/metrics.ts';
import { everyMetric } from '../support/every-metric.ts';
import { familyOf } from '../support/scrape.ts';

const familiesMax = 60;
/** The limit for one channel, including buckets, once everything that can happen there has happened. */
const seriesPerChannelMax = 200;
const channels = Array.from({ length: 12 }, (_, n) => `channel-${n}`);

describe('the metrics', () => {
  it('are few, and no label grows with models, accounts or tasks', async () => {
    const one = await everyMetric(channels.slice(0, 1));
    const all = await everyMetric(channels);
    const families = new Set(all.map(familyOf));
    expect(families.size).toBeGreaterThan(20);
    expect(families.size).toBeLessThanOrEqual(familiesMax);
    const perChannel = (all.length - one.length) / (channels.length - 1);
    expect(perChannel).toBeLessThanOrEqual(seriesPerChannelMax);
    expect([...new Set(all.flatMap(({ labels }) => Object.keys(labels)))].toSorted()).toEqual([
      'channel', 'class', 'currency', 'le', 'operation', 'outcome', 'reason', 'state', 'status', 'step', 'version',
    ]); // prettier-ignore
  });

  it('of the whole system are shown by the process that counts, and by no other', async () => {
    const metrics = createMetrics({ configVersion: () => 'abc' });
    const shown = async () =>
      (await metrics.render())
        .split('\n')
        .filter((line) => /^mediary_(tasks|money|census|accounts)/.test(line));
    expect(await shown()).toEqual([]);
    metrics.showCensus({
      at: 2000, currency: 'USD', tasks: [], attention: [], money: { available: 1n, held: 0n, overdrawn: 3 },
      slots: [], health: [], callbacks: [], copies: [],
    }); // prettier-ignore
    expect(await shown()).toContain('mediary_accounts_overdrawn 3');
    metrics.showCensus(undefined);
    expect(await shown()).toEqual([]);
  });

  it('include the mean and the longest lag of the event loop', async () => {
    const text = await createMetrics({ configVersion: () => 'abc' }).render();
    expect(text).toMatch(/^nodejs_eventloop_lag_mean_seconds \S/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_max_seconds \S/m);
  });

  it('time each request to an upstream, and count it by its outcome', async () => {
    const metrics = createMetrics({ configVersion: () => 'abc' });
    metrics.beginUpstream('one', 'status')('throttled');
    const text = await metrics.render();
    expect(text).toContain(
      'mediary_upstream_requests_total{channel="one",step="status",class="throttled"} 1',
    );
    expect(text).toContain('mediary_upstream_request_seconds_count{channel="one",step="status"} 1');
  });
});
