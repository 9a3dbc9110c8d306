import type { RenderKind } from '../models/render-times.ts';
import type { Operation } from './attempt.ts';
import type { Task } from './record.ts';
import { attemptAt, hasJob } from './state.ts';

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
