import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Metrics } from './metrics.ts';

export interface MetricsServer {
  close(): void;
}

export interface MetricsServerOptions {
  readonly metrics: Pick<Metrics, 'render' | 'contentType'>;
  readonly more?: string | undefined;
  readonly host: string;
  readonly port: number;
}

/** Uses a separate port (METRICS_PORT), so that the metrics need not be public. */
export async function startMetricsServer({
  metrics,
  more,
  host,
  port,
}: MetricsServerOptions): Promise<MetricsServer> {
  const render = async (): Promise<string> =>
    (await Promise.all([metrics.render(), more === undefined ? '' : read(more)])).join('');
  const server = createServer((request, response) => {
    request.resume();
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    render().then(
      (rendered) => response.writeHead(200, { 'content-type': metrics.contentType }).end(rendered),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  return { close: () => server.close() };
}

function read(address: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(address, (answer) => void text(answer).then(resolve, reject)).on('error', reject);
  });
}
