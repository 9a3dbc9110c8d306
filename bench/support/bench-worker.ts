import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

/**
 * Runs a worker with the settings of src/worker.ts until SIGTERM, so that what is compared differs in its workflow
 * and activities only.
 */
export async function runBenchWorker(options: {
  readonly address: string;
  readonly taskQueue: string;
  readonly workflowsPath: string;
  readonly activities?: object;
}): Promise<void> {
  const { address, taskQueue, workflowsPath, activities } = options;
  Runtime.install({ shutdownSignals: ['SIGTERM'], logger: new DefaultLogger('WARN') });
  const [workflowBundle, connection] = await Promise.all([
    bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') }),
    NativeConnection.connect({ address }),
  ]);
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle,
    ...(activities === undefined ? {} : { activities }),
    maxCachedWorkflows: 500,
    maxConcurrentActivityTaskExecutions: 1000,
    activityTaskPollerBehavior: { type: 'autoscaling', minimum: 1, initial: 2, maximum: 20 },
    workflowTaskPollerBehavior: { type: 'autoscaling', minimum: 2, initial: 5, maximum: 20 },
    shutdownGraceTime: '5s',
    maxHeartbeatThrottleInterval: '5s',
  });
  await worker.run();
  await connection.close();
}
