import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { taskPollers } from '../../../src/temporal/task-pollers.ts';

/**
 * Runs a worker with the settings of src/worker.ts until SIGTERM, so that what is compared differs in its workflow
 * and activities only.
 */
export async function runBenchWorker(options: {
  readonly address: string;
  readonly taskQueue: string;
  readonly workflowsPath: string;
  readonly activities?: object;
  /** A second task queue for the same activities, as channels have. */
  readonly activitiesQueue?: string;
}): Promise<void> {
  const { address, taskQueue, workflowsPath, activities, activitiesQueue } = options;
  Runtime.install({ shutdownSignals: ['SIGTERM'], logger: new DefaultLogger('WARN') });
  const [workflowBundle, connection] = await Promise.all([
    bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') }),
    NativeConnection.connect({ address }),
  ]);
  const common = {
    connection,
    ...(activities === undefined ? {} : { activities }),
    maxConcurrentActivityTaskExecutions: 1000,
    activityTaskPollerBehavior: taskPollers,
    shutdownGraceTime: '5s',
    maxHeartbeatThrottleInterval: '5s',
  } as const;
  const workers = [
    await Worker.create({
      ...common,
      taskQueue,
      workflowBundle,
      maxCachedWorkflows: 500,
      workflowTaskPollerBehavior: taskPollers,
    }),
    ...(activitiesQueue === undefined
      ? []
      : [await Worker.create({ ...common, taskQueue: activitiesQueue })]),
  ];
  await Promise.all(workers.map((worker) => worker.run()));
  await connection.close();
}
