import { fileURLToPath } from 'node:url';
import { runBenchWorker } from './bench-worker.ts';

/** The worker of the empty workflow. Arguments: Temporal's address, task queue. */
const [address = '', taskQueue = ''] = process.argv.slice(2);
await runBenchWorker({
  address,
  taskQueue,
  workflowsPath: fileURLToPath(new URL('empty-workflow.ts', import.meta.url)),
});
