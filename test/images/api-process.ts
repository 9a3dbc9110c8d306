import { readEnvironment } from '../../src/config.ts';
import { openCore } from '../../src/core.ts';
import { createLogger } from '../../src/log.ts';
import { startApi } from '../../src/server.ts';

/** An API process that a test kills. Prints its address. */
const core = await openCore(readEnvironment(), createLogger({ level: 'silent', format: 'json' }));
const { url } = await startApi(core);
process.stdout.write(`${url}\n`);
