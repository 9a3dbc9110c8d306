import type { Db, Document } from 'mongodb';
import type { TaskStatus } from '../task/task.ts';
import { durable, openCollection } from '../store/mongo.ts';
import type { StateName } from '../task/state.ts';
import { each, type Pace } from './verify-reading.ts';

/** After manual edits, these fields can contain anything. */
export interface TaskFacts {
  readonly _id: string;
  readonly account: string;
  readonly status: TaskStatus;
  readonly hold?: bigint;
  readonly charge?: bigint;
  readonly cost?: bigint;
  readonly costUnknown?: number;
  /** `tryId` and `abandoned` begin with the creation time in milliseconds. */
  readonly state?: { readonly at: StateName; readonly tryId?: string; readonly abandoned?: string };
  readonly stateSince?: number;
  readonly outcome?: { readonly kind: string };
}

const taskFields: Document = {
  account: 1, status: 1, hold: 1, charge: 1, cost: 1, costUnknown: 1, stateSince: 1, 'outcome.kind': 1,
  'state.at': 1, 'state.tryId': 1, 'state.abandoned': 1,
}; // prettier-ignore

interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  readonly pace?: Pace | undefined;
}

export function readRecords(db: Db, options: ReadOptions) {
  const tasks = openCollection<TaskFacts>(db, 'tasks', durable);

  return {
    /** Uses no filter, because an edited field could then hide a record. */
    everyRecord: () => each(tasks.find({}, { projection: taskFields }), options),

    async findTasks(ids: readonly string[]): Promise<Map<string, TaskFacts>> {
      if (ids.length === 0) return new Map();
      const found = await tasks.find({ _id: { $in: [...ids] } }, { projection: taskFields }).toArray();
      return new Map(found.map((task) => [task._id, task]));
    },
  };
}
