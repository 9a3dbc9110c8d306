import {
  allHandlersFinished,
  CancellationScope,
  condition,
  sleep,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { FinishedTask, FinishOutcome, FinishTask, TaskEnding } from '../activities/types.ts';
import { defined } from '../src/domain/defined.ts';
import type { TaskInput, TaskResult } from '../src/domain/task-input.ts';
import { claimTask, finishTask } from './activity-proxies.ts';
import { sendCallback } from './send-callback.ts';
import { cancelFromUi, handleActions } from './handle-actions.ts';
import { searchAttributes } from './search-attributes.ts';
import { replaceJob, submitAfterUndo, submitJob } from './submit-job.ts';
import { describe, enter, money, newTaskRun, nextVersion, remainingMs, showChannel } from './task-run.ts';
import type { Replacement, TaskRun } from './task-run.ts';
import { interruptedEnding } from './endings.ts';
import { mayBeReviewed, reviewCharge } from './review-charge.ts';
import { watchJob } from './watch-job.ts';

/**
 * One task, from its claim to the callback. Orchestration only: activities act, src/domain decides. A task that fails
 * completes this workflow; a workflow in status Failed is a bug.
 */
export async function generationTask(input: TaskInput): Promise<TaskResult> {
  const run = newTaskRun(input);
  handleActions(run);
  // A cancellation from the Temporal UI means what the API's cancel means: it must not skip the money.
  CancellationScope.current().cancelRequested.catch(() =>
    CancellationScope.nonCancellable(() => cancelFromUi(run)),
  );
  return CancellationScope.nonCancellable(() => runTask(run));
}

async function runTask(run: TaskRun): Promise<TaskResult> {
  const begun = await claim(run);
  if (begun !== undefined) return begun;
  const deadline = startDeadline(run);
  const ending = run.phase === 'finishing' ? interruptedEnding : await runToEnd(run);
  if (run.phase !== 'finishing') enter(run, 'finishing');
  if (!mayBeReviewed(run, ending)) deadline.cancel();
  const result = await finish(run, ending);
  deadline.cancel();
  enter(run, 'ended');
  if (run.input.hasCallback) await sendCallback(run);
  await condition(allHandlersFinished);
  return result;
}

async function runToEnd(run: TaskRun): Promise<FinishOutcome> {
  let step = run.job === undefined ? await submitJob(run) : undefined;
  for (;;) {
    const end = step ?? (await watch(run));
    if (end !== 'undone' && end.kind !== 'replaced') return end;
    run.job = undefined;
    run.isAdopted = false;
    step = end === 'undone' ? await submitAfterUndo(run) : await replaceJob(run, end);
  }
}

/** Takes the task over from its creator, or from an earlier run of this workflow. A result: there is nothing to do. */
async function claim(run: TaskRun): Promise<TaskResult | undefined> {
  const claimed = await claimTask(run, run.input, nextVersion(run));
  switch (claimed.state) {
    case 'open':
      enter(run, 'submitting');
      return undefined;
    case 'accepted':
      run.attempts = claimed.attempts;
      run.job = claimed.job;
      return undefined;
    case 'not_held':
      enter(run, 'finishing', 'Nothing is held for the task: it ends before it is submitted.');
      return undefined;
    case 'given_up':
      return end(run, { status: 'refused', refusal: 'service_unavailable' });
    case 'ended':
      return end(run, claimed.result);
    default:
      return claimed satisfies never;
  }
}

async function end(run: TaskRun, result: TaskResult): Promise<TaskResult> {
  enter(run, 'ended', `There is nothing to do: the task is ${result.status}.`);
  if (result.status !== 'refused' && run.input.hasCallback) await sendCallback(run);
  await condition(allHandlersFinished);
  return result;
}

function startDeadline(run: TaskRun): CancellationScope {
  const scope = new CancellationScope();
  scope
    .run(() => untilDeadline(run))
    .then(
      () => (run.stop ??= 'deadline'),
      () => undefined,
    );
  return scope;
}

/** Sleeps again for as long as an operator has moved the deadline meanwhile. */
async function untilDeadline(run: TaskRun): Promise<void> {
  for (let sleptUntil = 0; sleptUntil !== run.deadlineAt;) {
    sleptUntil = run.deadlineAt;
    await sleep(Math.max(1, remainingMs(run)), { summary: 'deadline of the task' });
  }
}

async function watch(run: TaskRun): Promise<FinishOutcome | Replacement | 'undone'> {
  const { job } = run;
  if (job === undefined) throw new Error('watch is reached with an accepted job only');
  enter(run, 'watching');
  run.withdraw = false;
  showChannel(run, job.candidate.channel);
  return watchJob(run, job);
}

async function finish(run: TaskRun, ending: FinishOutcome): Promise<TaskResult> {
  const review = mayBeReviewed(run, ending) ? 'possible' : undefined;
  const finished = await close(run, ending, review);
  if ('charge' in finished) return conclude(run, ending, finished);
  const decided = await reviewCharge(run, finished.review);
  const outcome = decided === 'accepted' ? ending : decided;
  const closed = await close(run, outcome, undefined);
  return conclude(run, outcome, 'charge' in closed ? closed : { charge: finished.review });
}

function close(run: TaskRun, outcome: FinishOutcome, review: FinishTask['review']): Promise<FinishedTask> {
  const { task, account, hold, basis } = run.input;
  return finishTask(run, {
    task,
    account,
    held: hold,
    basis,
    version: nextVersion(run),
    outcome,
    ...(run.input.keyUnlimited !== true ? { key: run.input.key } : {}),
    ...(run.input.fallback === undefined ? {} : { hasFallback: true }),
    ...defined({ review }),
  });
}

type Closed = Extract<FinishedTask, { readonly charge: string }>;

/** The ledger has the last word: what it decided before, in an earlier run of the workflow perhaps, is how the task ended. */
function conclude(run: TaskRun, outcome: FinishOutcome, { charge, failure, instead }: Closed): TaskResult {
  const ending = instead ?? outcome;
  run.ending = ending;
  showEnding(run, ending, failure);
  const why = failure === undefined ? '' : ` (${failure})`;
  describe(run, `The task ${ending.kind}${why}. Charged ${money(run, charge)}.`);
  return ending.kind === 'succeeded'
    ? { status: 'succeeded', charge }
    : { status: 'failed', code: ending.error?.code ?? 'provider_error' };
}

function showEnding({ job, concern }: TaskRun, { kind }: TaskEnding, failure: Closed['failure']): void {
  upsertSearchAttributes([
    { key: searchAttributes.status, value: kind },
    ...(failure === undefined ? [] : [{ key: searchAttributes.failure, value: failure }]),
    ...(concern === undefined ? [] : [{ key: searchAttributes.needsAttention, value: null }]),
    ...(job === undefined ? [] : [{ key: searchAttributes.upstreamTaskId, value: job.operation.id }]),
  ]);
}
