import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import { messageOf } from '../../src/base/caught.ts';

/**
 * Returns why a worker without the workflow in memory could not continue it from its history, or undefined if it could.
 * Every restart of a worker depends on this. The history comes from the client or from `temporal workflow show --output
 * json`.
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
