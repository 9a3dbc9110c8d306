import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { bundlePath, bundleSchema, modulePath, readBundle } from './bundle-cache.ts';

/**
 * The workflows as the `tasks` worker runs them: the kept bundle of these sources, or a new one. The bundler runs in a
 * process of its own: what it loads would stay in the worker's memory, a quarter of all that a worker has.
 */
export async function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  return (await readBundle(await bundlePath())) ?? runBundler();
}

/** Never from what is kept. */
export async function runBundler(): Promise<WorkflowBundleWithSourceMap> {
  const bundler = fork(modulePath('src/temporal/bundle-process'), {
    execArgv: ['--import', new URL('../typescript.js', import.meta.url).href],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // A Ctrl-C reaches every process of its group: whether this one ends in the middle of its start is for it to say.
    detached: true,
  });
  const failed = once(bundler, 'exit').then(([code, signal]: unknown[]) => {
    const how = String(code ?? signal);
    throw new Error(`The workflows were not bundled: the bundler ended with ${how}. It has printed why.`);
  });
  failed.catch(() => undefined);
  const messages: unknown[] = await Promise.race([once(bundler, 'message'), failed]);
  bundler.disconnect();
  return bundleSchema.parse(messages[0]);
}
