import type { Collection } from 'mongodb';
import { defined } from '../base/defined.ts';
import type { RouteCandidate } from '../task/candidates.ts';
import type { BehindCount } from '../health/channel-health.ts';
import { orderedTask, type OrderedTask } from '../task/fair-order.ts';
import { placeBehind, type TaskDocument } from './task-document.ts';

interface FailedPlace extends RouteCandidate {
  readonly model?: string;
  readonly from?: number;
}

interface Counted extends Pick<BehindCount, 'count' | 'since'> {
  readonly _id: Pick<BehindCount, 'channel' | 'credential' | 'model'>;
}

const countMaxMs = 10_000;

const projection = { account: 1, model: 1, deadlineAt: 1, createdAt: 1, attempts: 1 } as const;

export function waitingTasks(tasks: Collection<TaskDocument>) {
  return {
    async waitingFor(
      { channel, credential, model, from = 0 }: FailedPlace,
      limit: number,
    ): Promise<OrderedTask[]> {
      const place = placeBehind({ channel, credential });
      const behind = { 'behind.place': place, 'behind.deadlineAt': { $gte: from } };
      const found = await tasks
        .find({ ...behind, ...defined({ model }) }, { projection })
        .sort({ 'behind.deadlineAt': 1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id: id, ...task }) => orderedTask({ id, ...task }));
    },

    async countBehind(): Promise<BehindCount[]> {
      const _id = { channel: '$wait.channel', credential: '$wait.credential', model: '$model' };
      const $group = { _id, count: { $sum: 1 }, since: { $min: '$wait.since' } };
      const stages = [{ $match: { 'behind.place': { $gt: '' } } }, { $group }];
      const rows = await tasks.aggregate<Counted>(stages, { maxTimeMS: countMaxMs }).toArray();
      return rows.map(({ _id: place, ...row }) => ({ ...place, ...row }));
    },
  };
}
