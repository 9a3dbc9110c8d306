import type { Db, Document, Filter } from 'mongodb';
import type { TaskStatus } from '../task/task.ts';
import { dayMs } from '../base/times.ts';
import { sortKey } from '../store/task-document.ts';
import { each } from './verify-reading.ts';
import type { Pace } from './verify-reading.ts';

/** The part of the record that says what should have been paid. */
export interface TaskFacts {
  readonly _id: string;
  readonly account: string;
  readonly status: TaskStatus;
  readonly hold?: bigint;
  readonly charge?: bigint;
  readonly cost?: bigint;
  readonly costUnknown?: number;
  /** `tryId` begins with the time of the creation, in milliseconds. */
  readonly state?: { readonly at: string; readonly tryId?: string };
  readonly outcome?: { readonly kind: string };
  readonly completedAt?: number;
  /** Begins with the time of the creation, too. */
  readonly sort?: string;
}

const taskFields: Document = {
  account: 1, status: 1, hold: 1, charge: 1, cost: 1, costUnknown: 1, 'state.at': 1, 'state.tryId': 1, 'outcome.kind': 1,
  completedAt: 1,
}; // prettier-ignore

interface ReadOptions {
  readonly now: () => number;
  readonly signal?: AbortSignal | undefined;
  readonly pace?: Pace | undefined;
}

/** The records of tasks, as a verification reads them. */
export function readRecords(db: Db, { now, signal, pace }: ReadOptions) {
  const tasks = db.collection<TaskFacts>('tasks', {
    readConcern: { level: 'majority' },
    readPreference: 'primary',
    useBigInt64: true,
  });

  async function windowsOf(status: TaskStatus): Promise<readonly Window[]> {
    const lowest = { sort: { sort: 1 }, projection: { sort: 1 } } as const;
    const first = await tasks.findOne({ status, sort: { $gt: '' } }, lowest);
    return windowsFrom(first?.sort, now());
  }

  return {
    async *tasksOf(status: TaskStatus, more: Filter<TaskFacts> = {}): AsyncIterable<TaskFacts> {
      for (const window of await windowsOf(status)) {
        const found = tasks.find({ status, ...window, ...more }, { projection: taskFields });
        yield* each(found, { signal, pace });
      }
    },

    async countSucceeded(until: number): Promise<number> {
      let count = 0;
      for (const window of await windowsOf('succeeded')) {
        signal?.throwIfAborted();
        const ended = { status: 'succeeded', ...window, completedAt: { $not: { $gt: until } } } as const;
        count += await tasks.countDocuments(ended);
      }
      return count;
    },

    async findTasks(ids: readonly string[]): Promise<Map<string, TaskFacts>> {
      if (ids.length === 0) return new Map();
      const found = await tasks.find({ _id: { $in: [...ids] } }, { projection: taskFields }).toArray();
      return new Map(found.map((task) => [task._id, task]));
    },
  };
}

const windowsMax = 1_000;

interface Window {
  readonly sort?: object;
}

/**
 * Filters of which each record passes one, whatever its `sort` is: a day of creations each, or more where there are many
 * days. Where few of all records are asked for, one command for all would search longer than a connection waits for its
 * answer. `first`: the lowest `sort`; `until`: Unix milliseconds.
 */
export function windowsFrom(first: string | undefined, until: number): readonly Window[] {
  const from = Number.parseInt(first ?? '', 10);
  const step = Math.max(dayMs, Math.ceil((until - from) / windowsMax));
  const count = from < until ? Math.ceil((until - from) / step) : 0;
  const bounds = Array.from({ length: count }, (_, n) => sortKey(from + (n + 1) * step, ''));
  const [lowest] = bounds;
  if (lowest === undefined) return [{}];
  const others = bounds.map(($gte, n) => ({
    sort: n + 1 < count ? { $gte, $lt: bounds[n + 1] } : { $gte },
  }));
  // Not what is below it: of a record that was tampered with it may be missing.
  return [{ sort: { $not: { $gte: lowest } } }, ...others];
}
