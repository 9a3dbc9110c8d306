import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { TaskSignals } from '../../activities/deps.ts';
import { concernSignal, unservedSignal } from '../../workflows/messages.ts';

/** A signal to a missing workflow is ignored, because the reconciler restarts the workflow or ends the task. */
export function createTaskSignals({ workflow }: Client): TaskSignals {
  return {
    concern: (task, concern) => ifThere(workflow.getHandle(task).signal(concernSignal, concern ?? null)),
    unserved: (task, channels) => ifThere(workflow.getHandle(task).signal(unservedSignal, channels)),
  };
}

async function ifThere(signalled: Promise<void>): Promise<void> {
  try {
    await signalled;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
