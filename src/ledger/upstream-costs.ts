import type { Collection } from 'mongodb';
import type { Micros } from '../money/money.ts';
import { utcDay } from '../base/times.ts';
import type { EntryDocument } from './entry.ts';

export interface CostsAsked {
  readonly channel: string;
  readonly from: number;
  readonly before: number;
}

export interface ModelCosts {
  readonly model: string;
  readonly tasks: number;
  readonly cost: Micros;
  readonly unknown: number;
}

const readMsMax = 25_000;

interface Group {
  readonly _id: string;
  readonly tasks: number;
  readonly cost: bigint | number;
  readonly unknown: number;
}

/** Returns the upstream costs of the tasks that finished in a period, grouped by model. Uses the index `ended_on`. */
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
  // MongoDB returns a double if no summand is an int64.
  return groups
    .map(({ _id: model, tasks, cost, unknown }) => ({ model, tasks, cost: BigInt(cost), unknown }))
    .toSorted((a, b) => (a.model < b.model ? -1 : 1));
}
