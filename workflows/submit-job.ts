import { defined } from '../src/domain/defined.ts';
import { condition } from '@temporalio/workflow';
import type { AcceptedJob, FinishOutcome, SubmitInput, SubmitResult } from '../activities/types.ts';
import { atConcurrencyLimit } from '../src/domain/routing.ts';
import type { RouteCandidate } from '../src/domain/routing.ts';
import { submitAttended } from './attended-submission.ts';
import { findLostJobOn } from './activity-proxies.ts';
import { stoppedEnding } from './endings.ts';
import {
  clearAttention,
  commandLine,
  describe,
  enter,
  nextVersion,
  showChannel,
  raiseAttention,
  remainingMs,
} from './task-run.ts';
import type { LostSubmission, Replacement, TaskRun } from './task-run.ts';

/** With other channels to try, the last one of a round is given this long before the round begins again. */
const lastCandidatePersistMs = 300_000;
/** After a round in which no channel accepted; doubled with each round. */
const roundPauseMinMs = 5_000;
const roundPauseMaxMs = 300_000;

/**
 * Brings the job to an upstream, once. Returns the task's end if there will be no job: refused, withdrawn, or out of
 * time. Otherwise `run.job` is set.
 */
export async function submitJob(run: TaskRun): Promise<FinishOutcome | Replacement | undefined> {
  const { candidates } = run.input;
  for (let round = 0; ; round += 1) {
    const step = await submitRound(run, { candidates });
    if (step !== 'next') return step;
    await pauseAfterRound(run, round);
  }
}

/** The task has no job any more, and its last submission is again one whose outcome nobody knows. */
export async function submitAfterUndo(run: TaskRun): Promise<FinishOutcome | Replacement | undefined> {
  if (run.lost === undefined) throw new Error('only a job of a lost submission is taken back');
  const { candidates, replaces } = run.lost.input;
  const round: Round = { candidates, ...defined({ replaces }) };
  const asked = await waitForOperator(run, { ...run.lost, code: 'adoption_undone' });
  const step = isCandidate(asked)
    ? await submitTo(run, { candidate: asked, index: 0, full: [], round })
    : asked;
  if (step !== 'next') return step;
  return replaces === undefined ? submitJob(run) : replaceJob(run, { kind: 'replaced', candidates });
}

/**
 * Brings another job to an upstream, in place of one that failed. Each channel is asked once: if none accepts it, the
 * task has failed as its job did.
 */
export async function replaceJob(
  run: TaskRun,
  { candidates }: Replacement,
): Promise<FinishOutcome | Replacement | undefined> {
  if (run.phase !== 'submitting') enter(run, 'submitting');
  describe(run, 'The job failed at the upstream; another one is submitted elsewhere.');
  const step = await submitRound(run, { candidates, replaces: true });
  if (step !== 'next') return step;
  return isInterrupted(run) ? stoppedEnding(run) : { kind: 'failed' };
}

interface Round {
  readonly candidates: readonly RouteCandidate[];
  /** In place of a job that failed: the round is not repeated. */
  readonly replaces?: true;
}

async function submitRound(run: TaskRun, round: Round): Promise<Step> {
  const full: RouteCandidate[] = [];
  for (const [index, candidate] of round.candidates.entries()) {
    if (isInterrupted(run)) return stoppedEnding(run);
    const step = await submitTo(run, { candidate, index, full, round });
    if (step !== 'next') return step;
  }
  return 'next';
}

/** Channels that each point to another one must not be asked in a circle: the pause is a timer on the server. */
async function pauseAfterRound(run: TaskRun, round: number): Promise<void> {
  if (isInterrupted(run)) return;
  const pauseMs = Math.min(roundPauseMinMs * 2 ** Math.min(round, 10), roundPauseMaxMs);
  describe(
    run,
    `No channel of the plan accepts the task at the moment; retrying in ${pauseMs / 1000} s. ${commandLine(run, 'retry_now')} tries immediately.`,
  );
  run.isPausing = true;
  run.retryNow = false;
  await condition(() => isInterrupted(run) || run.retryNow, pauseMs);
  run.isPausing = false;
}

type Step = FinishOutcome | Replacement | undefined | 'next';

/** A candidate's turn in a round. `full`: those of this round that are at their concurrency limit. */
interface Turn {
  readonly candidate: RouteCandidate;
  readonly index: number;
  readonly full: RouteCandidate[];
  readonly round: Round;
}

async function submitTo(run: TaskRun, turn: Turn): Promise<Step> {
  const { candidate, index, full, round } = turn;
  const { candidates, replaces } = round;
  run.attempts += 1;
  const input: SubmitInput = {
    task: run.input.task,
    account: run.input.account,
    kind: run.input.kind,
    n: run.attempts,
    model: run.input.model,
    candidate,
    candidates,
    deadlineAt: run.deadlineAt,
    version: nextVersion(run),
    persistMs: persistMs(run, index, round),
    full: [...full],
    ...defined({ fallback: run.input.fallback, replaces }),
  };
  describe(
    run,
    `Submitting to **${candidate.channel}** (credential ${candidate.credential}, attempt ${run.attempts}), and waiting there for the end of the job: the pending activity says where it stands.`,
  );
  const result = await send(run, input);
  if (result === 'accepted') return undefined;
  if (result.kind === 'ambiguous') {
    describe(run, `The response of **${candidate.channel}** was lost; looking for the job there.`);
  }
  const found = result.kind === 'ambiguous' ? await findUnreportedJob(input) : result;
  switch (found.kind) {
    case 'accepted':
      run.job = acceptedJob(found, candidate);
      return undefined;
    case 'rejected':
      return afterRejection(found);
    case 'not_accepted':
      if (found.code === atConcurrencyLimit) full.push(candidate);
      return 'next';
    case 'ambiguous': {
      const step = await waitForOperator(run, { input, code: found.code });
      return isCandidate(step) ? submitTo(run, { ...turn, candidate: step }) : step;
    }
    default:
      return found satisfies never;
  }
}

function isCandidate(step: Step | RouteCandidate): step is RouteCandidate {
  return typeof step === 'object' && 'channel' in step;
}

/** The job may be that of an earlier attempt, on another channel. */
export function acceptedJob(
  { operation, candidate, acceptedAt = Date.now() }: Extract<SubmitResult, { kind: 'accepted' }>,
  asked: RouteCandidate,
): AcceptedJob {
  return { candidate: candidate ?? asked, operation, acceptedAt };
}

function persistMs(run: TaskRun, index: number, { candidates, replaces }: Round): number {
  if (candidates.length === 1 && replaces === undefined) return remainingMs(run);
  return index === candidates.length - 1 ? Math.min(lastCandidatePersistMs, remainingMs(run)) : 0;
}

export function afterRejection({
  next = [],
}: Extract<SubmitResult, { kind: 'rejected' }>): FinishOutcome | Replacement {
  return next.length > 0 ? { kind: 'replaced', candidates: next } : { kind: 'failed' };
}

async function send(run: TaskRun, input: SubmitInput): Promise<SubmitResult | 'accepted'> {
  // The workflow does not see when the job is accepted: operators look for the task where it is meant to run.
  showChannel(run, input.candidate.channel);
  return submitAttended(run, input, isInterrupted);
}

export async function findUnreportedJob(input: SubmitInput): Promise<SubmitResult> {
  try {
    return await findLostJobOn(input.candidate.channel).findLostJob(input);
  } catch {
    return { kind: 'ambiguous', code: 'lookup_failed' };
  }
}

async function waitForOperator(run: TaskRun, lost: LostSubmission): Promise<Step | RouteCandidate> {
  const { input, code } = lost;
  run.lost = lost;
  run.decision = undefined;
  enter(run, 'attention');
  // Whoever asked to cancel learns that it is not known; the request must not end what an operator decides later.
  run.withdraw = false;
  await raiseAttention(run, 'submit_ambiguous', code);
  for (;;) {
    await condition(() => !run.acting && (run.decision !== undefined || run.stop !== undefined));
    const step = await decide(run, input);
    run.decision = undefined;
    if (step === 'wait') continue;
    enter(run, 'submitting');
    if (run.stop === undefined) await clearAttention(run);
    return step;
  }
}

async function decide(run: TaskRun, input: SubmitInput): Promise<Step | RouteCandidate | 'wait'> {
  const { decision } = run;
  // After the deadline nothing is begun any more; a result that was recorded before still ends the task.
  if (run.stop !== undefined && decision?.kind !== 'end') return lookOnceMore(run, input);
  switch (decision?.kind) {
    case 'next':
      return 'next';
    case 'again':
      return decision.candidate;
    case 'job':
      run.job = decision.job;
      return undefined;
    case 'end':
      return decision.ending;
    case 'continue':
    case 'undone':
    case undefined:
      return 'wait';
    default:
      return decision satisfies never;
  }
}

async function lookOnceMore(run: TaskRun, input: SubmitInput): Promise<Step> {
  const found = await findUnreportedJob({ ...input, version: nextVersion(run) });
  if (found.kind !== 'accepted') return stoppedEnding(run);
  run.job = acceptedJob(found, input.candidate);
  return undefined;
}

function isInterrupted(run: TaskRun): boolean {
  return run.stop !== undefined || run.withdraw;
}
