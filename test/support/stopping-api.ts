import { startApi } from '../../src/api.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { openCore } from '../../src/compose/core.ts';
import { onRacePoint } from '../../src/base/race-point.ts';
import { createLogger } from '../../src/observability/log.ts';
import { installRuntime } from '../../src/temporal/install-runtime.ts';
import { startWorker } from '../../src/worker.ts';

/**
 * Starts an API that kills itself at the race point in the first argument. The second argument is how far ahead the
 * clocks of this process and the database are, in milliseconds. If the third is `worker`, the process is a worker too.
 * It prints its URL and, later, the race point. On SIGUSR2, it prints `armed` and then kills itself at the next claim
 * of an admission.
 */
const [given, aheadMs = '0', role] = process.argv.slice(2);
let point = given;
process.on('SIGUSR2', () => {
  point = 'admission.claimed';
  process.stdout.write('armed\n');
});
onRacePoint((at) => {
  if (at !== point) return undefined;
  process.stdout.write(`reached ${at}\n`, () => process.kill(process.pid, 'SIGKILL'));
  return new Promise(() => undefined);
});
const now = (): number => Date.now() + Number(aheadMs);
const log = createLogger({ level: 'silent', format: 'json' });
if (role === 'worker') await installRuntime(log, readEnvironment());
const core = await openCore(readEnvironment(), log, { databaseNow: now });
if (role === 'worker') await startWorker(core);
const api = await startApi(core);
process.stdout.write(`${api.url}\n`);
