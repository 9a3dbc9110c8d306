import type { SubmitRefusal } from '../src/capacity/submit-gate.ts';
import type { Send } from '../src/capacity/through-circuits.ts';
import { orderedTask } from '../src/task/fair-order.ts';
import type { Task } from '../src/task/record.ts';
import { openTo, restsOverInMs, withoutResting } from '../src/task/rounds.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { elapsedBefore, later } from './activity-time.ts';
import { noteWait } from './note-wait.ts';
import { stepTo } from './persistently.ts';
import { notAccepted, retryOrLeave, type Sent } from './submit-answer.ts';

interface Entering extends Pick<Sent, 'input'> {
  readonly submitMs: number;
  readonly hasWaited: boolean;
  readonly send: Send<Task>;
}

export async function enterChannel(
  task: Task,
  { input, submitMs, hasWaited, send }: Entering,
  deps: ChannelActivityDeps,
): Promise<Task> {
  const { id, ...order } = orderedTask(task);
  const asking = {
    ...order,
    task: id,
    candidate: input.candidate,
    // Skip channels that have asked us to retry later.
    candidates: withoutResting(openTo(task), task.resting, elapsedBefore()),
    hasWaited,
    submitMs,
  };
  const passed = await deps.gate.pass(asking, send);
  return 'sent' in passed ? passed.sent : turnedAway({ input, task }, passed.refused, deps);
}

async function turnedAway(
  { input, task }: Pick<Sent, 'input' | 'task'>,
  refusal: SubmitRefusal,
  deps: ChannelActivityDeps,
): Promise<Task> {
  switch (refusal.kind) {
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
