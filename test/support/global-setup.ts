import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { TestProject } from 'vitest/node';

import { startMongo, startTemporal } from './servers.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    temporalAddress: string;
    mongodbUri: string;
  }
}

/**
 * Starts one Temporal server and one MongoDB for the whole run. Separate task queues and database names isolate the
 * tests from each other.
 */
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
