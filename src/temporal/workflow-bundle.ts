import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { bundlePath, bundleSchema, modulePath, readBundle } from './bundle-cache.ts';

/**
 * Uses the stored bundle if the sources have not changed. The bundler runs in a separate process, because its code
 * would otherwise occupy a quarter of the worker's memory.
 */
export async function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  return readBundle(await bundlePath()) ?? runBundler();
}

export async function runBundler(): Promise<WorkflowBundleWithSourceMap> {
  const bundler = fork(modulePath('src/temporal/bundle-process'), {
    execArgv: ['--import', new URL('../typescript.js', import.meta.url).href],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Keep Ctrl-C from reaching the bundler. During startup, only this process may decide whether to exit.
    detached: true,
  });
  const failed = once(bundler, 'exit').then(([code, signal]: unknown[]) => {
    const how = String(code ?? signal);
    throw new Error(
      `The workflows could not be bundled: the bundler exited with ${how}. See its output above.`,
    );
  });
  failed.catch(() => undefined);
  const messages: unknown[] = await Promise.race([once(bundler, 'message'), failed]);
  bundler.disconnect();
  return bundleSchema.parse(messages[0]);
}
