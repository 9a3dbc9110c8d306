import { openTo } from '../src/domain/task-rounds.ts';
import type { Task } from '../src/domain/task-record.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { later } from './later.ts';
import { noteWait } from './note-wait.ts';
import { stepTo } from './step-to.ts';
import { notAccepted, retryOrLeave } from './submit-answer.ts';
import type { SubmitInput } from './types.ts';

interface Entering {
  readonly input: SubmitInput;
  /** Longest that the submission may take. */
  readonly submitMs: number;
}

/** Undefined: it may be sent. The channel is full, or its circuit is open: nothing is sent. */
export async function enterChannel(
  task: Task,
  { input, submitMs }: Entering,
  deps: ChannelActivityDeps,
): Promise<Task | undefined> {
  const { id, account, model, deadlineAt } = task;
  const refusal = await deps.gate.enter({
    task: id,
    account,
    model,
    deadlineAt,
    candidate: input.candidate,
    candidates: openTo(task),
    submitMs,
  });
  switch (refusal?.kind) {
    case undefined:
      return undefined;
    case 'elsewhere': {
      const message = 'Another channel has room.';
      const word = { code: 'at_concurrency_limit', message, stays: false, full: true } as const;
      return stepTo(task, notAccepted({ input, task }, word), deps);
    }
    case 'circuit_open': {
      const { detail: message, retryAfterMs } = refusal;
      return retryOrLeave({ input, task }, { code: 'circuit_open', message, retryAfterMs }, deps);
    }
    case 'full':
      await noteWait(id, 'slot', deps);
      throw later('AtConcurrencyLimit', 'every channel of the plan is at its concurrency limit', refusal.ms);
    default:
      return refusal satisfies never;
  }
}
