import type { Document } from 'mongodb';
import { utcDay } from '../base/times.ts';
import { emptyFlow, type Flow, type FlowsAsked } from '../reports/flow.ts';
import type { LedgerCollection } from './collection.ts';

const readMsMax = 25_000;

interface Found {
  readonly _id: { readonly at: number | bigint; readonly channel: string; readonly model: string };
  readonly charged: number | bigint;
  readonly refunded: number | bigint;
  readonly cost: number | bigint;
}

export async function readLedgerFlows(
  collection: Pick<LedgerCollection, 'aggregate'>,
  { from, before, stepMs }: FlowsAsked,
): Promise<Flow[]> {
  const match = { ended_on: utcDay(from), at: { $gte: from, $lt: before } };
  const pipeline = [{ $match: match }, { $group: sumsOf(stepMs) }];
  const found = await collection.aggregate<Found>(pipeline, { maxTimeMS: readMsMax }).toArray();
  return found.map(({ _id: { at, channel, model }, charged, refunded, cost }) => ({
    ...emptyFlow({ at: Number(at), channel, model }),
    charged: BigInt(charged),
    refunded: BigInt(refunded),
    cost: BigInt(cost),
  }));
}

function sumsOf(stepMs: number): Document {
  const charge = { $add: ['$amount', { $ifNull: ['$excess', 0n] }] };
  const ofKind = (kind: string, amount: unknown) => ({
    $sum: { $cond: [{ $eq: ['$kind', kind] }, amount, 0n] },
  });
  return {
    _id: {
      at: { $subtract: ['$at', { $mod: ['$at', stepMs] }] },
      channel: '$upstream.channel',
      model: '$upstream.model',
    },
    charged: ofKind('settle', charge),
    refunded: ofKind('refund', '$amount'),
    cost: { $sum: '$upstream.cost' },
  };
}
