import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { bundlePath, keepBundle, modulePath } from './bundle-cache.ts';

// Whoever started this has ended: nobody waits for the bundle.
process.once('disconnect', () => process.exit());

const path = await bundlePath();
const bundle = await bundleWorkflowCode({
  workflowsPath: modulePath('workflows/index'),
  preloadModules: [modulePath('workflows/preload')],
  logger: new DefaultLogger('WARN'),
});
await keepBundle(path, bundle);
process.send?.(bundle);
