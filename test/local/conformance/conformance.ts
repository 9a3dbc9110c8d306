import { randomUUID } from 'node:crypto';
import { inspect, isDeepStrictEqual } from 'node:util';

import type { Db, Document } from 'mongodb';

import type { Check } from './check.ts';
import { indexChecks } from './indexes.ts';
import { readChecks } from './reads.ts';
import { sumChecks } from './sums.ts';
import { valueChecks } from './values.ts';
import { writeChecks } from './writes.ts';
import { messageOf } from '../../../src/base/caught.ts';

export type Difference = { check: string; expected: string; found: string };

export const conformanceChecks: readonly Check[] = [
  ...writeChecks,
  ...readChecks,
  ...indexChecks,
  ...sumChecks,
  ...valueChecks,
];

/**
 * Runs every operation that the stores use and provokes every error that they rely on, on whichever server is in use.
 * Takes a few seconds, mostly because of large documents. The collections are dropped afterwards. The client may have
 * any options, because the checks set the ones they need.
 */
export async function checkMongoConformance(
  db: Db,
  checks: readonly Check[] = conformanceChecks,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const { name, expected, run } of checks) {
    const found = await outcomeOf(db, run);
    if (!isDeepStrictEqual(found, expected)) {
      differences.push({ check: name, expected: inspect(expected), found: inspect(found) });
    }
  }
  return differences;
}

async function outcomeOf(db: Db, run: Check['run']): Promise<unknown> {
  const collection = db.collection<Document & { _id: string }>(`conformance_${randomUUID()}`, {
    useBigInt64: true,
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority', wtimeoutMS: 10_000 },
  });
  try {
    return await run(collection);
  } catch (error) {
    return { unexpected: messageOf(error) };
  } finally {
    await collection.drop().catch(() => false);
  }
}
