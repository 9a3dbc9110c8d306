import { defined } from '../base/defined.ts';
import type { RenderKind } from '../models/render-times.ts';
import type { Operation } from './attempt.ts';
import type { Task } from './record.ts';
import { attemptAt, hasJob } from './state.ts';

export interface WatchedJob extends Pick<Task, 'account' | 'kind' | 'model' | 'deadlineAt' | 'inputSeconds'> {
  readonly task: string;
  readonly n: number;
  readonly candidate: { readonly channel: string; readonly credential: string };
  readonly operation: Operation;
  readonly render: RenderKind;
  readonly acceptedAt: number;
}

export function watchedJob(task: Task): WatchedJob | undefined {
  const { id, account, kind, model, output, deadlineAt, inputSeconds, state, attempts } = task;
  const attempt = hasJob(state) ? attemptAt(state, attempts) : undefined;
  if (attempt?.operation === undefined) return undefined;
  const { n, channel, credential, operation, startedAt, endedAt = startedAt } = attempt;
  const candidate = { channel, credential };
  const render = { channel, model, output };
  const job = { task: id, account, n, kind, model, candidate, operation, render, deadlineAt };
  return { ...job, acceptedAt: endedAt, ...defined({ inputSeconds }) };
}
