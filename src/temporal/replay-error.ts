import type { WorkflowHandle } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { messageOf } from '../domain/caught.ts';

/**
 * Why a worker that has nothing of a workflow in its memory could not continue it from its history; undefined: it could.
 * Every restart of a worker asks this question.
 */
export async function replayError(
  handle: WorkflowHandle,
  options: { readonly workflowBundle: WorkflowBundleWithSourceMap; readonly dataConverter?: DataConverter },
): Promise<string | undefined> {
  const history = await handle.fetchHistory();
  try {
    await Worker.runReplayHistory(options, history, handle.workflowId);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
