import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { keep } from '../process/kept-files.js';
import { bundlePath, modulePath } from './bundle-cache.ts';

// The parent process has ended, so nobody needs the bundle.
process.once('disconnect', () => process.exit());

const path = await bundlePath();
const bundle = await bundleWorkflowCode({
  workflowsPath: modulePath('workflows/index'),
  preloadModules: [modulePath('workflows/preload')],
  logger: new DefaultLogger('WARN'),
});
keep(path, JSON.stringify(bundle));
process.send?.(bundle);
