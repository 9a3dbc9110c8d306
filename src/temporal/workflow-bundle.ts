import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';

const pathOf = (file: string): string => fileURLToPath(new URL(`../../workflows/${file}`, import.meta.url));

/** The workflows as the `tasks` worker runs them. */
export function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath: pathOf('index.ts'),
    preloadModules: [pathOf('preload.ts')],
    logger: new DefaultLogger('WARN'),
  });
}
