import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { runBenchWorker } from './bench-worker.ts';
import { createNaiveActivities } from './naive-activities.ts';

/** Arguments: Temporal's address, task queue, MongoDB's address, database, the upstream's address, its API key. */
const [address = '', taskQueue = '', mongoUri = '', database = '', upstreamUrl = '', apiKey = ''] =
  process.argv.slice(2);
const mongo = await MongoClient.connect(mongoUri, { maxPoolSize: 50 });
await runBenchWorker({
  address,
  taskQueue,
  workflowsPath: fileURLToPath(new URL('naive-workflow.ts', import.meta.url)),
  activities: createNaiveActivities(mongo.db(database), upstreamUrl, apiKey),
});
await mongo.close();
