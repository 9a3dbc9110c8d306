import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { startMetricsServer, type MetricsServer } from '../../src/observability/metrics-server.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { choosePort } from '../../src/local/servers/ports.ts';

let server: MetricsServer | undefined;
afterEach(() => server?.close());

it('serves the metrics of this process on METRICS_PORT, and nothing else', async () => {
  const metrics = createMetrics({ configVersion: () => 'abc' });
  metrics.countCreate('created');
  const port = await choosePort('any', 'metrics');
  server = await startMetricsServer({ metrics, host: '127.0.0.1', port });
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(answer.headers.get('content-type')).toContain('text/plain');
  expect(await answer.text()).toContain('mediary_create_requests_total{outcome="created"} 1');
  expect((await fetch(`http://127.0.0.1:${port}/v1/models`)).status).toBe(404);
  expect((await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'POST' })).status).toBe(404);
});

it('names a port that is taken', async () => {
  const port = await choosePort('any', 'metrics');
  const options = { metrics: createMetrics({ configVersion: () => 'abc' }), host: '127.0.0.1', port };
  server = await startMetricsServer(options);
  await expect(startMetricsServer(options)).rejects.toThrow(String(port));
});

it('appends further metrics of this process to its own', async () => {
  const other = createServer((_, response) => response.end('temporal_num_pollers 1\n'));
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const more = `http://127.0.0.1:${(other.address() as AddressInfo).port}/metrics`;
  const port = await choosePort('any', 'metrics');
  server = await startMetricsServer({
    metrics: createMetrics({ configVersion: () => 'abc' }),
    more,
    host: '127.0.0.1',
    port,
  });
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(text).toMatch(/^mediary_http_waiting_requests 0\n[^]*^temporal_num_pollers 1\n$/m);
  other.close();
});
