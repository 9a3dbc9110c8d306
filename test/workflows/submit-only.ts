import { defineSignal, setHandler } from '@temporalio/workflow';
import type { TaskInput } from '../../src/domain/task-input.ts';
import { performAction } from '../../workflows/perform-action.ts';
import { submitJob } from '../../workflows/submit-job.ts';
import { newTaskRun } from '../../workflows/task-run.ts';

/** The submission of a task, alone: tests play its activities, its callers and its operators. */
export async function submitOnly(input: TaskInput) {
  const run = newTaskRun(input);
  run.phase = 'submitting';
  setHandler(defineSignal('cancel'), () => void (run.withdraw = true));
  setHandler(defineSignal('deadline'), () => void (run.stop = 'deadline'));
  setHandler(defineSignal('resubmit'), () => void (run.decision = { kind: 'next' }));
  setHandler(
    defineSignal('retry_now'),
    async () => void (await performAction(run, 'retry_now', { reason: 'a test' })),
  );
  const ending = await submitJob(run);
  return {
    code: ending?.kind === 'failed' ? (ending.error?.code ?? 'none') : undefined,
    job: run.job?.operation.id,
  };
}
