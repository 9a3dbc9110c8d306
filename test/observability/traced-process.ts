import { executionAsyncId } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { readEnvironment } from '../../src/config/environment.ts';
import { createLogger } from '../../src/observability/log.ts';
import { openTracing } from '../../src/observability/tracing.ts';

/**
 * Prints as JSON which parts of OpenTelemetry are loaded, and whether promises are hooked. With tracing off, the
 * process loads the same modules as the API and the worker.
 */

/** If promises are not hooked, code after an `await` has no async id of its own. */
async function areHooked(): Promise<boolean> {
  await Promise.resolve();
  return executionAsyncId() !== 0;
}

const log = createLogger({ level: 'silent', format: 'json' });
const tracing = await openTracing(readEnvironment(), { node: 'host/1', log });
if (tracing === undefined) await Promise.all([import('../../src/api.ts'), import('../../src/worker.ts')]);
const span = tracing?.tracer.enter(undefined, { name: 'request' });
await tracing?.tasks.run('task_1', { name: 'step', parent: span?.traceparent }, areHooked);
const hooked = await areHooked();
const packages = Object.keys(createRequire(import.meta.url).cache).flatMap(
  (file) => /node_modules\/(@opentelemetry\/[^/]+)/.exec(file)?.[1] ?? [],
);
await tracing?.tracer.close();
process.stdout.write(
  JSON.stringify({ traceparent: span?.traceparent, hooked, packages: [...new Set(packages)] }),
);
