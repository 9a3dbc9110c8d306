import type { Collection } from 'mongodb';
import type { AttemptDocument } from './attempt-document.ts';
import { dropIndex, ensureIndexes, listIndexNames } from './mongo.ts';
import type { IndexShape } from './mongo.ts';

const shapes: readonly IndexShape[] = [
  { name: 'task_n', key: { task: 1, n: 1 } },
  // The id of an upstream is unique within its channel only; one field, since a compound index is not sparse enough.
  { name: 'job', key: { job: 1 }, unique: true, sparse: true },
  // Another key than that of the former unique index: a server refuses two shapes of one key.
  { name: 'upstream_id_task', key: { upstream_id: 1, task: 1 }, sparse: true },
];

/** Until November 2026: unique over all channels, so that the second channel's job with the same id was lost. */
const formerIndex = 'upstream_id';
const batchMax = 1000;

/**
 * Makes the indexes. Where the former index exists, its documents first get the new unique field, and it is dropped
 * only when the new index protects them: a crash in between repeats the step, and several processes may do it at once.
 */
export async function ensureAttemptIndexes(attempts: Collection<AttemptDocument>): Promise<void> {
  const migrates = (await listIndexNames(attempts)).includes(formerIndex);
  if (migrates) await addJobKeys(attempts);
  await ensureIndexes(attempts, shapes);
  if (migrates) await dropIndex(attempts, formerIndex);
}

export function jobKey(channel: string, upstreamId: string): string {
  return `${channel}/${upstreamId}`;
}

async function addJobKeys(attempts: Collection<AttemptDocument>): Promise<void> {
  const lacking = attempts
    .find({ upstream_id: { $exists: true }, job: { $exists: false } })
    .project<{ _id: string; channel: string; upstream_id: string }>({ channel: 1, upstream_id: 1 })
    .batchSize(batchMax);
  let batch: Parameters<typeof attempts.bulkWrite>[0][number][] = [];
  const write = async (): Promise<void> => {
    if (batch.length > 0) await attempts.bulkWrite(batch, { ordered: false });
    batch = [];
  };
  for await (const { _id, channel, upstream_id } of lacking) {
    const update = { $set: { job: jobKey(channel, upstream_id) } };
    batch.push({ updateOne: { filter: { _id }, update } });
    if (batch.length >= batchMax) await write();
  }
  await write();
}
