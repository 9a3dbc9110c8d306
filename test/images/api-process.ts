import { readEnvironment } from '../../src/config/environment.ts';
import { openCore } from '../../src/compose/core.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startApi } from '../../src/api.ts';

const core = await openCore(readEnvironment(), createLogger({ level: 'silent', format: 'json' }));
const api = await startApi(core, { isPrepared: true });
process.once('SIGTERM', () => void api.stop().then(() => core.close()));
process.stdout.write(`${api.url}\n`);
