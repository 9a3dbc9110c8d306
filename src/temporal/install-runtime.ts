import { once } from 'node:events';
import { createServer } from 'node:net';
import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { Environment } from '../config/environment.ts';
import { messageOf } from '../base/caught.ts';
import { racePoint } from '../base/race-point.ts';

const installsMax = 5;

type RuntimeLog = Readonly<
  Record<'error' | 'warn', (facts: { readonly detail: unknown }, message: string) => void>
>;

/**
 * Call this once per process, before anything else from Temporal. The runtime's own signal handling is disabled,
 * because it would hide SIGTERM until the workers are drained. If METRICS_PORT is set, returns the URL of the runtime's
 * metrics, which this process serves along with its own.
 */
export async function installRuntime(
  log: RuntimeLog,
  { METRICS_PORT }: Environment,
): Promise<string | undefined> {
  if (METRICS_PORT === undefined) {
    install(log);
    return undefined;
  }
  for (let attempt = 1; ; attempt += 1) {
    const address = `127.0.0.1:${await freePort()}`;
    await racePoint('runtime.install', address);
    try {
      install(log, address);
      return `http://${address}/metrics`;
    } catch (error) {
      // If another program or connection has taken the port, try the next one.
      if (attempt === installsMax || !/address already in use/i.test(messageOf(error))) throw error;
    }
  }
}

function install(log: RuntimeLog, metricsAddress?: string): void {
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      log[level === 'ERROR' ? 'error' : 'warn']({ detail: meta?.['error'] }, message);
    }),
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
      ...(metricsAddress === undefined ? {} : { metrics: { prometheus: { bindAddress: metricsAddress } } }),
    },
  });
}

/**
 * Temporal's runtime does not report a port that it picks itself, so pick one here. Another program may take it before
 * the runtime binds it.
 */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
