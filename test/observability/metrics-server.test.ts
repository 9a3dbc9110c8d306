import { afterEach, expect, it } from 'vitest';
import { startMetricsServer } from '../../src/observability/metrics-server.ts';
import type { MetricsServer } from '../../src/observability/metrics-server.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { choosePort } from '../../src/local/servers/ports.ts';

let server: MetricsServer | undefined;
afterEach(() => server?.close());

it('serves the numbers of this process on METRICS_PORT, and nothing else', async () => {
  const metrics = createMetrics();
  metrics.countCreate('created');
  const port = await choosePort('any', 'metrics');
  server = await startMetricsServer(metrics, '127.0.0.1', port);
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(answer.headers.get('content-type')).toContain('text/plain');
  expect(await answer.text()).toContain('mediary_create_requests_total{outcome="created"} 1');
  expect((await fetch(`http://127.0.0.1:${port}/v1/models`)).status).toBe(404);
  expect((await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'POST' })).status).toBe(404);
});

it('names a port that is taken', async () => {
  const port = await choosePort('any', 'metrics');
  server = await startMetricsServer(createMetrics(), '127.0.0.1', port);
  await expect(startMetricsServer(createMetrics(), '127.0.0.1', port)).rejects.toThrow(String(port));
});
