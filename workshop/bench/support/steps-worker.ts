import { fileURLToPath } from 'node:url';
import { runBenchWorker } from './bench-worker.ts';
import { stepsActivities } from './steps-activities.ts';

/** Arguments: Temporal's address, the workflows' task queue, the activities' task queue. */
const [address = '', taskQueue = '', activitiesQueue = ''] = process.argv.slice(2);
await runBenchWorker({
  address,
  taskQueue,
  activitiesQueue,
  workflowsPath: fileURLToPath(new URL('steps-workflow.ts', import.meta.url)),
  activities: stepsActivities,
});
