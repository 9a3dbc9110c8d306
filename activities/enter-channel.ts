import { wasLost } from '../src/task/attempt.ts';
import type { Task } from '../src/task/record.ts';
import { openTo, restsOverInMs, withoutResting } from '../src/task/rounds.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { elapsedBefore } from './elapsed.ts';
import { later } from './later.ts';
import { noteWait } from './note-wait.ts';
import { stepTo } from './step-to.ts';
import { notAccepted, retryOrLeave } from './submit-answer.ts';
import type { SubmitInput } from './types.ts';

interface Entering {
  readonly input: SubmitInput;
  /** Longest that the submission may take. */
  readonly submitMs: number;
  /** This run is not the first that asks. */
  readonly hasWaited: boolean;
}

/** Undefined: it may be sent. The channel is full, or its circuit is open: nothing is sent. */
export async function enterChannel(
  task: Task,
  { input, submitMs, hasWaited }: Entering,
  deps: ChannelActivityDeps,
): Promise<Task | undefined> {
  const { id, account, model, deadlineAt, createdAt, resting } = task;
  const refusal = await deps.gate.enter({
    task: id,
    account,
    model,
    deadlineAt,
    createdAt,
    wasLost: wasLost(task),
    candidate: input.candidate,
    // Room at a channel that has named a later time is none: the task waits here for its turn.
    candidates: withoutResting(openTo(task), resting, elapsedBefore()),
    hasWaited,
    submitMs,
  });
  switch (refusal?.kind) {
    case undefined:
      return undefined;
    case 'elsewhere': {
      const message = 'Another channel has room.';
      const wait = { cause: 'slot', ...input.candidate } as const;
      const word = { code: 'at_concurrency_limit', message, stays: false, full: true, wait } as const;
      return stepTo(task, notAccepted({ input, task }, word), deps);
    }
    case 'circuit_open': {
      const { detail: message, retryAfterMs, isTried } = refusal;
      const wait =
        isTried === true ? ({ cause: 'turn', ahead: 1 } as const) : ({ cause: 'circuit' } as const);
      const refused = { code: 'circuit_open', message, retryAfterMs, wait: { ...wait, code: message } };
      return retryOrLeave({ input, task }, refused, deps);
    }
    case 'full': {
      await noteWait(task, { cause: 'slot', ...input.candidate, ahead: refusal.ahead }, deps);
      const message = 'every channel of the plan is at its concurrency limit';
      throw later('AtConcurrencyLimit', message, Math.min(refusal.ms, restsOverInMs(task, elapsedBefore())));
    }
    default:
      return refusal satisfies never;
  }
}
