import type { Collection, Document, Filter } from 'mongodb';

export interface DuePage {
  /** Unix milliseconds. */
  readonly at: number;
  readonly eachMax: number;
}

/**
 * Returns at most `eachMax` documents per channel, most overdue first, so that one channel's backlog does not hide the
 * others. Needs an index on the fields of `fixed`, then `channel`, then `dueAt`.
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
  // If the task no longer has a channel, the field is missing or an empty string.
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
