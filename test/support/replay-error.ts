import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import { messageOf } from '../../src/base/caught.ts';

/**
 * Replays a history, as a worker does when a workflow is not in its cache. Every restart of a worker depends on this.
 * Returns undefined if the replay succeeds. Histories come from the client or from `temporal workflow show --output
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
