import type { Collection, Document } from 'mongodb';
import { emptyFlow, lateBounds, type Flow, type FlowsAsked } from '../../reports/flow.ts';
import { taskStatuses } from '../../task/task.ts';
import { sortKey, type EndKind, type TaskDocument } from '../task-document.ts';
import { endKinds } from '../task-query.ts';

const limit = { maxTimeMS: 25_000 };

interface Created {
  readonly _id: FlowId;
  readonly created: number | bigint;
  readonly held: bigint | number;
}

interface Ended {
  readonly _id: FlowId & { readonly kind: EndKind };
  readonly count: number | bigint;
  readonly [late: LateName]: number | bigint;
}

type LateName = `late${number}`;

type FlowId = Pick<Flow, 'at' | 'channel' | 'model'>;

export function taskFlows(tasks: Collection<TaskDocument>) {
  return {
    async flows({ from, before, stepMs }: FlowsAsked): Promise<Flow[]> {
      const range = { $gte: sortKey(from, ''), $lt: sortKey(before, '') };
      const created = tasks.aggregate<Created>(
        [
          { $match: { status: { $in: taskStatuses }, sort: range } },
          { $group: { _id: idAt('$createdAt', stepMs), created: { $sum: 1 }, held: { $sum: '$hold' } } },
        ],
        limit,
      );
      const ended = tasks.aggregate<Ended>(
        [
          { $match: { 'end.kind': { $in: endKinds }, 'end.sort': range } },
          {
            $group: {
              _id: { ...idAt('$completedAt', stepMs), kind: '$end.kind' },
              count: { $sum: 1 },
              ...lateSums,
            },
          },
        ],
        limit,
      );
      const [came, went] = await Promise.all([created.toArray(), ended.toArray()]);
      return [...came.map(createdFlow), ...went.map(endedFlow)];
    },
  };
}

function idAt(field: string, stepMs: number): Document {
  const channel = { $ifNull: ['$channel', ''] };
  return { at: { $subtract: [field, { $mod: [field, stepMs] }] }, channel, model: '$model' };
}

const lateNames = [...lateBounds, undefined].map((_, index): LateName => `late${index}`);

const lateSums = Object.fromEntries(
  lateNames.map((name, index) => {
    const [after, until] = [lateBounds[index - 1], lateBounds[index]];
    const above = { $gt: ['$end.lateMs', after === undefined ? -1 : after * 1000] };
    const below = until === undefined ? [] : [{ $lte: ['$end.lateMs', until * 1000] }];
    return [name, { $sum: { $cond: [{ $and: [above, ...below] }, 1, 0] } }];
  }),
);

function createdFlow({ _id, created, held }: Created): Flow {
  return { ...emptyFlow(flowId(_id)), created: Number(created), held: BigInt(held) };
}

function endedFlow({ _id: { kind, ...id }, count, ...sums }: Ended): Flow {
  const late = lateNames.map((name) => Number(sums[name]));
  const flow = { ...emptyFlow(flowId(id)), late };
  return kind === 'succeeded'
    ? { ...flow, succeeded: Number(count) }
    : { ...flow, failures: { [kind]: Number(count) } };
}

/** Converts `at` to a number, because MongoDB may return an int64. */
function flowId({ at, channel, model }: FlowId): FlowId {
  return { at: Number(at), channel, model };
}
