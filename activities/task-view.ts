import { defined } from '../src/base/defined.ts';
import { isUnsearchable } from '../src/routing/channels.ts';
import { knowledgeOf, type Knowledge } from '../src/operating/advice.ts';
import { shownAttempt } from '../src/task/state.ts';
import type { Task } from '../src/task/record.ts';
import type { TaskActivityDeps } from './deps.ts';
import type { TaskView } from './types.ts';

export interface ViewDeps extends Pick<TaskActivityDeps, 'channels'> {
  readonly requests: Pick<TaskActivityDeps['requests'], 'isForgotten'>;
}

export function viewOf(task: Task | undefined, deps: ViewDeps): TaskView {
  if (task === undefined) return abandonedView;
  const { rev, state, stateSince, deadlineAt, status, charge, error } = task;
  const { concern, channel, upstreamId, wait } = task;
  return {
    rev,
    state,
    stateSince,
    deadlineAt,
    status,
    ...knownOf(task, deps),
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

export function knownOf(task: Task, { channels, requests }: ViewDeps): Knowledge {
  return knowledgeOf(task, {
    isUnsearchable: (at) => isUnsearchable(channels, at),
    isForgotten: requests.isForgotten,
  });
}

const abandonedView: TaskView = {
  rev: Number.MAX_SAFE_INTEGER,
  state: { at: 'ended', abandoned: '' },
  stateSince: 0,
  deadlineAt: 0,
  status: 'failed',
};
