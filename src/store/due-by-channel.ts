import type { Collection, Document, Filter } from 'mongodb';

export interface DuePage {
  /** Unix milliseconds. */
  readonly at: number;
  readonly eachMax: number;
}

/**
 * Returns the documents of each channel that have been overdue the longest, at most `eachMax` per channel, so that a
 * channel with a long backlog does not hide the others. Needs an index on the fields of `fixed`, then `channel`, then
 * `dueAt`.
 */
export async function findDueByChannel<Schema extends Document & { readonly channel?: string }>(
  collection: Collection<Schema>,
  fixed: Filter<Schema>,
  { at, eachMax }: DuePage,
) {
  const due = async (channel: unknown) =>
    collection
      .find({ ...fixed, channel, dueAt: { $lte: at } })
      .sort({ dueAt: 1 })
      .limit(eachMax)
      .toArray();
  // If a task no longer has a channel, the field is an empty string or missing.
  const found = await due(null);
  for (let later: object = { $gte: '' }; ;) {
    const next: { readonly channel?: string } | null = await collection.findOne(
      { ...fixed, channel: later },
      { sort: { channel: 1 } },
    );
    if (next?.channel === undefined) return found;
    found.push(...(await due(next.channel)));
    later = { $gt: next.channel };
  }
}
