import type { Collection } from 'mongodb';
import type { Micros } from '../money/money.ts';
import { utcDay } from '../base/times.ts';
import type { EntryDocument } from './entry.ts';

/** What ended in this time, in Unix milliseconds: inclusive, and exclusive. */
export interface CostsAsked {
  readonly channel: string;
  readonly from: number;
  readonly before: number;
}

export interface ModelCosts {
  readonly model: string;
  /** That have ended, images that were answered at once among them. */
  readonly tasks: number;
  /** What is known of it. */
  readonly cost: Micros;
  /** Attempts whose cost is not known. */
  readonly unknown: number;
}

const readMsMax = 25_000;

interface Group {
  readonly _id: string;
  readonly tasks: number;
  readonly cost: bigint | number;
  readonly unknown: number;
}

/** What a channel's upstream should bill for the tasks that ended in a time, by model. By the index on `ended_on`. */
export async function readUpstreamCosts(
  collection: Collection<EntryDocument>,
  { channel, from, before }: CostsAsked,
): Promise<ModelCosts[]> {
  const match = {
    ended_on: { $gte: utcDay(from), $lte: utcDay(before - 1) },
    'upstream.channel': channel,
    at: { $gte: from, $lt: before },
    kind: { $in: ['settle', 'release', 'void'] },
  } as const;
  const sums = {
    _id: '$upstream.model',
    tasks: { $sum: 1 },
    cost: { $sum: '$upstream.cost' },
    unknown: { $sum: '$upstream.unknown' },
  };
  const groups = await collection
    .aggregate<Group>([{ $match: match }, { $group: sums }], { maxTimeMS: readMsMax })
    .toArray();
  // A sum without any int64 is a number.
  return groups
    .map(({ _id: model, tasks, cost, unknown }) => ({ model, tasks, cost: BigInt(cost), unknown }))
    .toSorted((a, b) => (a.model < b.model ? -1 : 1));
}
