import { Worker } from '@temporalio/worker';
import type { ReplayWorkerOptions } from '@temporalio/worker';
import { messageOf } from '../../src/base/caught.ts';

/**
 * Why a worker that has nothing of a workflow in its memory could not continue it from its history (that of the client,
 * or as `temporal workflow show --output json` prints it); undefined: it could. Every restart of a worker asks this question.
 */
export async function replayError(
  task: string,
  history: unknown,
  options: ReplayWorkerOptions,
): Promise<string | undefined> {
  try {
    await Worker.runReplayHistory(options, history, task);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
