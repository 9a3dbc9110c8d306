import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { TestProject } from 'vitest/node';

import { startMongo, startTemporal } from './servers.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Host and port of the run's Temporal; its namespace is `default`. Take task queues of your own. */
    temporalAddress: string;
    /** The run's MongoDB, without a database name. Take a database of your own. */
    mongodbUri: string;
  }
}

/** One Temporal and one MongoDB for the whole run; tests keep apart by task queue and database name. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'mediary-test-'));
  const [temporal, mongo] = await Promise.all([
    startTemporal({ dir: join(directory, 'temporal') }),
    startMongo({ dir: join(directory, 'mongo') }),
  ]);
  project.provide('temporalAddress', temporal.address);
  project.provide('mongodbUri', mongo.uri);
  return async () => {
    await Promise.all([temporal.stop(), mongo.stop()]);
    await rm(directory, { recursive: true, force: true });
  };
}
