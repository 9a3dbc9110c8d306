import { once } from 'node:events';
import { createServer } from 'node:net';
import { readEnvironment } from '../../../src/config/environment.ts';
import { onRacePoint } from '../../../src/base/race-point.ts';
import { createLogger } from '../../../src/observability/log.ts';
import { installRuntime } from '../../../src/temporal/install-runtime.ts';

let taken: string | undefined;
onRacePoint(async (point, address) => {
  if (point !== 'runtime.install' || taken !== undefined) return;
  taken = address;
  const [host, port] = address.split(':');
  await once(createServer().listen(Number(port), host), 'listening');
});
const log = createLogger({ level: 'silent', format: 'json' });
const url = await installRuntime(log, readEnvironment({ METRICS_PORT: '9464' }));
const { status } = await fetch(url ?? '');
process.stdout.write(`${JSON.stringify({ taken: `http://${taken}/metrics`, url, status })}\n`);
