import { startApi } from '../../src/api.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore } from '../../src/core.ts';
import { onRacePoint } from '../../src/domain/race-point.ts';
import { createLogger } from '../../src/observability/log.ts';

/** An API process that kills itself at the race point which its first argument names. Prints its address, then the point. */
const [point] = process.argv.slice(2);
onRacePoint((at) => {
  if (at !== point) return undefined;
  process.stdout.write(`reached ${at}\n`, () => process.kill(process.pid, 'SIGKILL'));
  return new Promise(() => undefined);
});
const core = await openCore(readEnvironment(), createLogger({ level: 'silent', format: 'json' }));
const api = await startApi(core);
process.stdout.write(`${api.url}\n`);
