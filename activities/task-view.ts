import { defined } from '../src/base/defined.ts';
import { shownAttempt } from '../src/task/state.ts';
import type { Task } from '../src/task/record.ts';
import type { TaskView } from './types.ts';

export function viewOf(task: Task | undefined): TaskView {
  if (task === undefined) return abandonedView;
  const { rev, state, stateSince, deadlineAt, status, charge, error } = task;
  const { concern, channel, upstreamId, wait } = task;
  return {
    rev,
    state,
    stateSince,
    deadlineAt,
    status,
    ...defined({
      concern,
      channel,
      upstreamId,
      wait,
      attempt: shownAttempt(task),
      charge: charge?.toString(),
      error: error === undefined ? undefined : defined({ code: error.code, class: error.class }),
    }),
  };
}

const abandonedView: TaskView = {
  rev: Number.MAX_SAFE_INTEGER,
  state: { at: 'ended', abandoned: '' },
  stateSince: 0,
  deadlineAt: 0,
  status: 'failed',
};
