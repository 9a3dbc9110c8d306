import type { Collection } from 'mongodb';
import { defined } from '../base/defined.ts';
import { wasLost } from '../task/attempt.ts';
import type { RouteCandidate } from '../task/candidates.ts';
import type { OrderedTask } from '../task/fair-order.ts';
import type { TaskDocument } from './task-document.ts';

/** A credential, or one model behind it. */
interface FailedPlace extends RouteCandidate {
  readonly model?: string;
  /** The deadline from which the tasks are listed, in Unix milliseconds. */
  readonly from?: number;
}

/** The waits that may end when an upstream is well again. `backoff` is not one: the upstream named that time. */
const failedUpstream = ['circuit', 'turn', 'upstream'] as const;

const projection = { account: 1, model: 1, deadlineAt: 1, createdAt: 1, attempts: 1 } as const;

export function waitingTasks(tasks: Collection<TaskDocument>) {
  return {
    /** Lists the tasks that wait for a failed upstream, the earliest deadline first. */
    async waitingFor(
      { channel, credential, model, from = 0 }: FailedPlace,
      limit: number,
    ): Promise<OrderedTask[]> {
      const due = { status: 'pending', deadlineAt: { $gte: from } } as const;
      const where = { 'wait.channel': channel, 'wait.credential': credential, ...defined({ model }) };
      const found = await tasks
        .find({ ...due, 'wait.cause': { $in: failedUpstream }, ...where }, { projection })
        .sort({ deadlineAt: 1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id: id, account, model: of, deadlineAt, createdAt, attempts }) => ({
        id,
        account,
        model: of,
        deadlineAt,
        createdAt,
        wasLost: wasLost({ attempts }),
      }));
    },
  };
}
