import type { Operation } from '../src/domain/attempt.ts';
import { defined } from '../src/domain/defined.ts';
import type { RenderKind } from '../src/domain/render-times.ts';
import { attemptAt, attemptInFlight, hasJob, shownAttempt } from '../src/domain/task-state.ts';
import type { Task } from '../src/domain/task-record.ts';
import type { TaskView } from './types.ts';

/** What the workflow learns of a record; undefined: the task was abandoned, and its record removed. */
export function viewOf(task: Task | undefined): TaskView {
  if (task === undefined) return givenUpView;
  const { rev, state, stateSince, deadlineAt, status, charge, error } = task;
  const { wanted, concern, channel, upstreamId } = task;
  return {
    rev,
    state,
    stateSince,
    deadlineAt,
    status,
    isSending: attemptInFlight(task.attempts) !== undefined,
    ...defined({
      wanted,
      concern,
      channel,
      upstreamId,
      attempt: shownAttempt(task),
      charge: charge?.toString(),
      error: error === undefined ? undefined : defined({ code: error.code, class: error.class }),
    }),
  };
}

const givenUpView: TaskView = {
  rev: Number.MAX_SAFE_INTEGER,
  state: { at: 'given_up' },
  stateSince: 0,
  deadlineAt: 0,
  status: 'failed',
  isSending: false,
};

/** A job as its polls see it. */
export interface WatchedJob extends Pick<Task, 'kind' | 'model' | 'deadlineAt'> {
  readonly task: string;
  readonly n: number;
  readonly candidate: { readonly channel: string; readonly credential: string };
  readonly operation: Operation;
  readonly render: RenderKind;
  readonly acceptedAt: number;
}

/** The job that the task waits for; undefined: it waits for none. */
export function watchedJob(task: Task): WatchedJob | undefined {
  const { id, kind, model, output, deadlineAt, state, attempts } = task;
  const attempt = hasJob(state) ? attemptAt(state, attempts) : undefined;
  if (attempt?.operation === undefined) return undefined;
  const { n, channel, credential, operation, startedAt, endedAt = startedAt } = attempt;
  const candidate = { channel, credential };
  const render = { channel, model, output };
  return { task: id, n, kind, model, candidate, operation, render, acceptedAt: endedAt, deadlineAt };
}
