import type { Retention } from '../base/retention.ts';
import { racePoint } from '../base/race-point.ts';
import type { RemovalMarks } from '../ledger/removal-marks.ts';
import type { TaskStore } from '../store/tasks.ts';
import type { RemoveTasks } from './remove-tasks.ts';

export interface TaskRetentionDeps {
  readonly tasks: Pick<TaskStore, 'endedBefore'>;
  readonly marks: Pick<RemovalMarks, 'raiseForAll'>;
  readonly removeTasks: RemoveTasks;
  readonly retention: () => Retention;
  readonly now: () => number;
}

const pageTasks = 500;
/** The longest a step of the reconciler may take. The next step continues. */
const stepMs = 60_000;

/** Returns the number of records removed. Safe to repeat, even after a crash. */
export function createTaskRetention({ tasks, marks, removeTasks, retention, now }: TaskRetentionDeps) {
  return async (): Promise<number> => {
    const { tasksMs } = retention();
    if (tasksMs === undefined) return 0;
    const before = now() - tasksMs;
    const endsAt = now() + stepMs;
    let removed = 0;
    for (let isMore = true; isMore && now() < endsAt;) {
      const ids = await tasks.endedBefore(before, pageTasks);
      if (ids.length === 0) break;
      await marks.raiseForAll(before);
      await racePoint('retention.marked', '');
      removed += await removeTasks(ids);
      isMore = ids.length === pageTasks;
    }
    return removed;
  };
}
