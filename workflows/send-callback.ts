import { allHandlersFinished } from '@temporalio/workflow';
import type { FirstCallback } from '../activities/types.ts';
import { ownCallbackRound } from '../src/base/ids.ts';
import { commandLine } from '../src/task/situation.ts';
import { callbackActivities, firstCallback } from './activity-proxies.ts';
import { note } from './task-run.ts';
import type { TaskRun } from './task-run.ts';

/** A request whose process may still wait for its answer is not repeated sooner. */
const unknownAnswerMs = 25_000;

/** Reports the end of the task to its caller. The first request needs no activity where its receiver answers at once. */
export async function sendCallback(run: TaskRun): Promise<void> {
  const first = await sendFirst(run);
  if (first.state === 'delivered') return;
  const isAccepted = first.state === 'pending' && (await deliver(run.input.task, first.dueAt));
  if (isAccepted) return;
  const again = `\`${commandLine(run.input.task, 'redeliver')}\``;
  note(run, `The callback was never accepted; the attempts are recorded. ${again} sends it again.`);
}

async function deliver(task: string, dueAt: number | undefined): Promise<boolean> {
  try {
    await callbackActivities().deliverCallback(task, ownCallbackRound, dueAt);
    return true;
  } catch {
    return false;
  }
}

/** Who waits for the answer to an update does not wait for a receiver as well. */
async function sendFirst(run: TaskRun): Promise<FirstCallback> {
  if (!allHandlersFinished()) return { state: 'pending' };
  try {
    return await firstCallback(run);
  } catch {
    // It took too long, and may have sent.
    return { state: 'pending', dueAt: Date.now() + unknownAnswerMs };
  }
}
