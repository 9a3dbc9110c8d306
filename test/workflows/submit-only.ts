import { defineSignal, setHandler } from '@temporalio/workflow';
import type { TaskInput } from '../../src/domain/task-input.ts';
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
    defineSignal<[string]>('adopt'),
    (upstreamId) => void (run.decision = { kind: 'search', upstreamId }),
  );
  const ending = await submitJob(run);
  return {
    code: ending?.kind === 'failed' ? (ending.error?.code ?? 'none') : undefined,
    job: run.job?.operation.id,
  };
}
