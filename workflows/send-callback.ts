import { allHandlersFinished } from '@temporalio/workflow';
import type { FirstCallback } from '../activities/types.ts';
import { ownCallbackRound } from '../src/base/ids.ts';
import { commandLine } from '../src/operating/situation.ts';
import { callbackActivities, firstCallback } from './activity-proxies.ts';
import { note, type TaskRun } from './task-run.ts';

/**
 * How long to wait before repeating a request whose outcome is unknown, because the receiver may still be responding.
 */
const unknownAnswerMs = 25_000;

/** Makes the first request in a local activity. If the receiver responds promptly, no other activity is needed. */
export async function sendCallback(run: TaskRun): Promise<void> {
  const first = await sendFirst(run);
  if (first.state === 'delivered') return;
  const isAccepted = first.state === 'pending' && (await deliver(run.input.task, first.waitMs));
  if (isAccepted) return;
  const again = `\`${commandLine(run.input.task, 'redeliver')}\``;
  note(run, `The callback was never accepted; the attempts are recorded. ${again} sends it again.`);
}

async function deliver(task: string, waitMs: number | undefined): Promise<boolean> {
  try {
    await callbackActivities().deliverCallback(task, ownCallbackRound, waitMs);
    return true;
  } catch {
    return false;
  }
}

/**
 * Skips the first request while an update is being handled. Otherwise, the sender of the update would have to wait for
 * the callback's receiver.
 */
async function sendFirst(run: TaskRun): Promise<FirstCallback> {
  if (!allHandlersFinished()) return { state: 'pending' };
  try {
    return await firstCallback(run);
  } catch {
    // The local activity took too long and may have sent the request.
    return { state: 'pending', waitMs: unknownAnswerMs };
  }
}
