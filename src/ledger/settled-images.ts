import { defined } from '../base/defined.ts';
import { imageIdPrefix } from '../base/ids.ts';
import { dayMs, utcDay, utcDays } from '../base/times.ts';
import { endedOnIndex, type LedgerCollection } from './collection.ts';

export interface SettledImagesAsked {
  readonly from: number;
  readonly until: number;
  readonly account?: string;
  readonly model?: string;
}

const readTimeoutMs = 25_000;
const batchRows = 500;
const afterImageIds = imageIdPrefix.replace(/_$/, '`');

/**
 * Synchronous images have no task record, so the ledger is the only place to find them. Runs one query per day on the
 * index `ended_on`.
 */
export async function* readSettledImages(
  collection: LedgerCollection,
  { from, until, account, model }: SettledImagesAsked,
): AsyncIterable<string> {
  const since = { ended_on: { $gte: utcDay(from) } };
  const first = await collection.findOne(since, {
    sort: { ended_on: 1 },
    projection: { ended_on: 1 },
    maxTimeMS: readTimeoutMs,
  });
  if (first?.ended_on === undefined) return;
  for (const day of utcDays(first.ended_on, utcDay(until + dayMs))) {
    const settled = {
      ended_on: day,
      kind: 'settle',
      key: { $gte: imageIdPrefix, $lt: afterImageIds },
    } as const;
    const cursor = collection
      .find({ ...settled, ...defined({ account, model }) }, { projection: { task: 1 } })
      .hint(endedOnIndex.name)
      .batchSize(batchRows)
      .maxTimeMS(readTimeoutMs);
    for await (const { task } of cursor) if (task !== undefined) yield task;
  }
}
