import { defined } from '../src/domain/defined.ts';
import { CancellationScope, condition } from '@temporalio/workflow';
import type {
  AcceptedJob,
  FinishOutcome,
  OperationInput,
  PollInput,
  PollResult,
} from '../activities/types.ts';
import { attendedPoll, leaveAttended } from './attended-submission.ts';
import { cancelOn, lastPollOn, pollOn } from './activity-proxies.ts';
import { cancelledEnding, expiredEnding, operatorEnding } from './endings.ts';
import { clearAttention, describeWait, enter, nextVersion, raiseAttention, remainingMs } from './task-run.ts';
import type { Replacement, TaskRun } from './task-run.ts';

/** The deadline timer ends the wait; the poll's own timeout is only a backstop behind it. */
const pollBackstopMs = 120_000;

/**
 * Waits until the upstream has ended the job, or until the deadline, a cancellation or an operator ends the wait.
 * `undone`: an operator took the job back that an operator had named.
 */
export async function watchJob(
  run: TaskRun,
  job: AcceptedJob,
): Promise<FinishOutcome | Replacement | 'undone'> {
  for (;;) {
    describeWait(run);
    const polled = await pollUntilStopped(run, job);
    // What an operator is about to decide was checked before this answer came.
    if (run.acting) await condition(() => !run.acting);
    const decided = takeDecision(run);
    if (decided !== undefined) return decided;
    if (run.restartPoll) {
      run.restartPoll = false;
      if (polled === 'stopped' && run.stop === undefined) continue;
    }
    const ending = polled === 'stopped' ? await endEarly(run, job) : await endAfterPoll(run, job, polled);
    if (ending !== undefined) return ending;
  }
}

async function endAfterPoll(
  run: TaskRun,
  job: AcceptedJob,
  polled: PollResult | 'broken',
): Promise<FinishOutcome | Replacement | 'undone' | undefined> {
  if (polled !== 'broken') {
    const candidates = polled.kind === 'failed' ? (polled.next ?? []) : [];
    return candidates.length > 0 ? { kind: 'replaced', candidates } : endingOf(polled, run, job);
  }
  run.decision = undefined;
  enter(run, 'attention');
  await raiseAttention(run, 'poll_failed', job.candidate.channel);
  await condition(() => !run.acting && (run.decision !== undefined || run.stop !== undefined));
  enter(run, 'watching');
  await clearAttention(run);
  return takeDecision(run);
}

/** What ends the wait for this job without its upstream. */
function takeDecision(run: TaskRun): FinishOutcome | Replacement | 'undone' | undefined {
  const { decision } = run;
  run.decision = undefined;
  if (decision?.kind === 'end') return decision.ending;
  return decision?.kind === 'undone' ? 'undone' : undefined;
}

function endingOf(polled: PollResult, run: TaskRun, job: AcceptedJob): FinishOutcome | undefined {
  switch (polled.kind) {
    case 'succeeded':
      return { kind: 'succeeded', candidate: job.candidate, model: run.input.model, facts: polled.facts };
    case 'failed':
      return { kind: 'failed' };
    case 'unfinished':
      return undefined;
    default:
      return polled satisfies never;
  }
}

async function pollUntilStopped(run: TaskRun, job: AcceptedJob): Promise<PollResult | 'broken' | 'stopped'> {
  if (run.attended === undefined) return schedulePoll(run, job);
  const stopped = condition(() => isInterrupted(run));
  const first = await Promise.race([attendedPoll(run), stopped.then(() => 'stopped' as const)]);
  leaveAttended(run);
  return first ?? schedulePoll(run, job);
}

async function schedulePoll(run: TaskRun, job: AcceptedJob): Promise<PollResult | 'broken' | 'stopped'> {
  const { leavingPoll } = run;
  if (leavingPoll !== undefined && (await isStoppedWhileLeaving(run, leavingPoll))) return 'stopped';
  const scope = new CancellationScope();
  const polling = scope
    .run(() =>
      pollOn(job.candidate.channel, remainingMs(run) + pollBackstopMs).poll(pollInput(run, job, false)),
    )
    .catch(() => 'broken' as const);
  const stopped = scope.run(() => condition(() => isInterrupted(run)));
  stopped.catch(() => undefined);
  const first = await Promise.race([polling, stopped.then(() => 'stopped' as const)]);
  scope.cancel();
  if (first === 'stopped') run.leavingPoll = polling;
  return first;
}

/**
 * A worker learns with its next heartbeat that its poll is cancelled. Until then Temporal knows the activity, and refuses
 * another one of its name, which would fail the workflow task again and again. True: meanwhile the wait was ended.
 */
async function isStoppedWhileLeaving(run: TaskRun, leavingPoll: Promise<unknown>): Promise<boolean> {
  const isEnded = (): boolean => run.stop !== undefined || run.decision !== undefined;
  await Promise.race([leavingPoll, condition(isEnded)]);
  if (isEnded()) return true;
  run.leavingPoll = undefined;
  // The next poll is given the deadline of this moment.
  run.restartPoll = false;
  return false;
}

function isInterrupted({ stop, decision, restartPoll }: TaskRun): boolean {
  return stop !== undefined || decision !== undefined || restartPoll;
}

/** At the deadline the upstream is asked once more: a result that is there counts. */
async function endEarly(run: TaskRun, job: AcceptedJob): Promise<FinishOutcome> {
  if (run.stop === 'cancelled') return cancelledEnding;
  const seen = await pollOnceMore(run, job);
  if (seen !== undefined) return seen;
  await cancelUpstream(run, job);
  return run.stop === 'operator' ? operatorEnding : expiredEnding;
}

async function pollOnceMore(run: TaskRun, job: AcceptedJob): Promise<FinishOutcome | undefined> {
  try {
    return endingOf(await lastPollOn(job.candidate.channel).poll(pollInput(run, job, true)), run, job);
  } catch {
    return undefined;
  }
}

/** Best effort, and an honest answer: `refused` also when the upstream could not be asked. */
export async function cancelUpstream(run: TaskRun, job: AcceptedJob): Promise<'cancelled' | 'refused'> {
  try {
    return await cancelOn(job.candidate.channel).cancelUpstream(operationInput(run, job));
  } catch {
    return 'refused';
  }
}

function operationInput(run: TaskRun, job: AcceptedJob): OperationInput {
  const { task, kind, model } = run.input;
  return { task, kind, model, candidate: job.candidate, operation: job.operation };
}

function pollInput(run: TaskRun, job: AcceptedJob, last: boolean): PollInput {
  return {
    ...operationInput(run, job),
    acceptedAt: job.acceptedAt,
    deadlineAt: run.deadlineAt,
    expectedSeconds: run.input.expectedSeconds,
    output: run.input.output,
    version: nextVersion(run),
    last,
    ...(last ? {} : defined({ fallback: run.input.fallback })),
  };
}
