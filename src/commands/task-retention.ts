import type { Retention } from '../base/retention.ts';
import { unlimited, type StepTime } from '../base/walk.ts';
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

/** The returned step resolves to the number of removed records. Idempotent. */
export function createTaskRetention({ tasks, marks, removeTasks, retention, now }: TaskRetentionDeps) {
  return async ({ isOver }: Pick<StepTime, 'isOver'> = unlimited): Promise<number> => {
    const { tasksMs } = retention();
    if (tasksMs === undefined) return 0;
    const before = now() - tasksMs;
    let removed = 0;
    for (let isMore = true; isMore && !isOver();) {
      const ids = await tasks.endedBefore(before, pageTasks);
      if (ids.length === 0) break;
      await marks.raiseForAll(before);
      await racePoint('retention.marked', '');
      removed += await removeTasks(ids, isOver);
      isMore = ids.length === pageTasks;
    }
    return removed;
  };
}
