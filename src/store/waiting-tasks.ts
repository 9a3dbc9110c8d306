import type { Collection } from 'mongodb';
import { defined } from '../base/defined.ts';
import type { RouteCandidate } from '../task/candidates.ts';
import { orderedTask } from '../task/fair-order.ts';
import type { OrderedTask } from '../task/fair-order.ts';
import { placeBehind } from './task-document.ts';
import type { TaskDocument } from './task-document.ts';

/** A credential, or one model behind it. */
interface FailedPlace extends RouteCandidate {
  readonly model?: string;
  /** The deadline from which the tasks are listed, in Unix milliseconds. */
  readonly from?: number;
}

const projection = { account: 1, model: 1, deadlineAt: 1, createdAt: 1, attempts: 1 } as const;

export function waitingTasks(tasks: Collection<TaskDocument>) {
  return {
    /** Lists the tasks that wait for a failed upstream, the earliest deadline first. */
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
  };
}
