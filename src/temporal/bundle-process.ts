import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const pathOf = (file: string): string => fileURLToPath(new URL(`../../workflows/${file}`, import.meta.url));

// Whoever started this has ended: nobody waits for the bundle.
process.once('disconnect', () => process.exit());

const bundle = await bundleWorkflowCode({
  workflowsPath: pathOf('index.ts'),
  preloadModules: [pathOf('preload.ts')],
  logger: new DefaultLogger('WARN'),
});
process.send?.(bundle);
