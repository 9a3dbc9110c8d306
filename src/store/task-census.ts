import type { Collection } from 'mongodb';
import { attentionReasons } from '../domain/attention.ts';
import type { AttentionReason } from '../domain/attention.ts';
import type { AttentionCount, CallbackCount, TaskCount } from '../domain/census.ts';
import { defined } from '../domain/defined.ts';
import { statusesBefore } from '../domain/task.ts';
import type { TaskDocument } from './task-document.ts';

/** Of a count that takes longer nothing is learned. */
const limit = { maxTimeMS: 10_000 };

/** How many of a kind there are; `since`: of the oldest one, in Unix milliseconds. */
interface Row<Kind> {
  readonly _id: Kind;
  readonly count: number;
  readonly since: number;
}

/** Counts for operators: each reads what an index of few finds, and returns a row for each kind. */
export function taskCensus(tasks: Collection<TaskDocument>) {
  return {
    async countUnfinished(): Promise<TaskCount[]> {
      const found = tasks.aggregate<Row<Pick<TaskCount, 'state' | 'channel' | 'wait'>>>(
        [
          { $match: { status: { $in: statusesBefore('failed') } } },
          { $group: { _id: taskKind, count: { $sum: 1 }, since: { $min: '$stateSince' } } },
        ],
        limit,
      );
      return (await found.toArray()).map(({ _id, count, since }) => ({ ..._id, count, since }));
    },

    /** Tasks that wait for a person, by reason and channel; empty: they have none. */
    async countAttention(): Promise<AttentionCount[]> {
      const found = tasks.aggregate<Row<{ readonly reason: AttentionReason; readonly channel: string }>>(
        [
          { $match: { attention: { $in: [...attentionReasons] } } },
          {
            $group: {
              _id: { reason: '$attention', channel: { $ifNull: ['$channel', ''] } },
              count: { $sum: 1 },
            },
          },
        ],
        limit,
      );
      return (await found.toArray()).map(({ _id, count }) => ({ ..._id, count }));
    },

    /** A callback is failing from its first attempt that was recorded on. */
    async countCallbacks(): Promise<CallbackCount[]> {
      const owed = tasks.aggregate<Row<boolean>>(
        [
          { $match: { owes: { $gt: '' } } },
          { $group: { _id: hasAttempts, count: { $sum: 1 }, since: { $min: '$completedAt' } } },
        ],
        limit,
      );
      const [rows, abandoned] = await Promise.all([
        owed.toArray(),
        tasks.countDocuments({ gaveUp: { $gt: '' } }, limit),
      ]);
      const row = (isFailing: boolean) => {
        const { count = 0, since } = rows.find(({ _id }) => _id === isFailing) ?? {};
        return { count, ...defined({ since }) };
      };
      return [
        { state: 'due', ...row(false) },
        { state: 'failing', ...row(true) },
        { state: 'abandoned', count: abandoned },
      ];
    },
  };
}

const firstOf = (path: string) => ({ $arrayElemAt: [path, 0] });
const nextChannel = { $ifNull: [firstOf('$state.left.channel'), firstOf('$plan.candidates.channel')] };
const taskKind = {
  state: '$state.at',
  channel: { $ifNull: ['$channel', nextChannel] },
  wait: { $ifNull: ['$waitsFor', ''] },
};
const hasAttempts = { $gt: [{ $size: { $ifNull: ['$callback.attempts', []] } }, 0] };
