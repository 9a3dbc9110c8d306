import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { taskPollers } from '../../../src/temporal/task-pollers.ts';

const [address = '', taskQueue = ''] = process.argv.slice(2);
const logger = new DefaultLogger('WARN');
Runtime.install({ shutdownSignals: ['SIGTERM'], logger });
const workflowsPath = fileURLToPath(new URL('empty-workflow.ts', import.meta.url));
const [workflowBundle, connection] = await Promise.all([
  bundleWorkflowCode({ workflowsPath, logger }),
  NativeConnection.connect({ address }),
]);
const worker = await Worker.create({
  connection,
  taskQueue,
  workflowBundle,
  maxCachedWorkflows: 500,
  workflowTaskPollerBehavior: taskPollers,
  shutdownGraceTime: '5s',
});
await worker.run();
await connection.close();
