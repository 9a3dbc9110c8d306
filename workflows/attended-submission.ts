import { CancellationScope, condition } from '@temporalio/workflow';
import type { PollResult, SubmitInput, SubmitResult } from '../activities/types.ts';
import { findJob, submitAttendedOn } from './activity-proxies.ts';
import { nextVersion } from './task-run.ts';
import type { TaskRun } from './task-run.ts';

/**
 * A submission whose activity also waits for the end of its job: one activity instead of two. The workflow does not see
 * when the job is accepted. Whoever needs to know asks the attempt's record; from then on the activity is the job's
 * poll, which can be left at any time.
 */
export interface AttendedSubmission {
  readonly input: SubmitInput;
  readonly scope: CancellationScope;
  /** Never rejects: what an activity that died leaves open is `ambiguous`. */
  readonly result: Promise<SubmitResult>;
}

/** `accepted`: `run.job` is set, and the activity may still be waiting for its end. */
export async function submitAttended(
  run: TaskRun,
  input: SubmitInput,
  isInterrupted: (run: TaskRun) => boolean,
): Promise<SubmitResult | 'accepted'> {
  // Its id is free again only then.
  await run.left;
  const attended = schedule(run, input);
  run.attended = attended;
  const decided = condition(() => run.job !== undefined || isInterrupted(run));
  await Promise.race([attended.result, decided]);
  if (isInterrupted(run)) await learnJob(run);
  if (run.job !== undefined) return 'accepted';
  // Not sent, or in flight: then its answer is waited for.
  if (isInterrupted(run)) attended.scope.cancel();
  const submitted = await attended.result;
  if (submitted.kind !== 'accepted' || submitted.polled === undefined) run.attended = undefined;
  return submitted;
}

function schedule(run: TaskRun, input: SubmitInput): AttendedSubmission {
  const scope = new CancellationScope();
  const { channel } = input.candidate;
  const { expectedSeconds, output } = run.input;
  const attend = { expectedSeconds, version: nextVersion(run), output };
  const result = scope
    .run(() => submitAttendedOn(channel, input.n).submit({ ...input, attend }))
    // An activity that died midway reveals nothing about what the upstream received.
    .catch((): SubmitResult => ({ kind: 'ambiguous', code: 'submission_lost' }));
  return { input, scope, result };
}

/** Asks whether the submission in flight has been accepted. If so, `run.job` is its job. */
export async function learnJob(run: TaskRun): Promise<void> {
  const { attended } = run;
  if (attended === undefined || run.job !== undefined) return;
  const job = await findJob(run, attended.input.task, attended.input.n);
  if (run.attended === attended && run.job === undefined) run.job = job;
}

/** What the attending activity saw of the job; undefined: it does not wait for it any more, and a poll has to. */
export async function attendedPoll({ attended }: TaskRun): Promise<PollResult | 'broken' | undefined> {
  const submitted = await attended?.result;
  return submitted?.kind === 'accepted' ? submitted.polled : undefined;
}

/** The workflow waits for the job in another way from now on, or not at all. */
export function leaveAttended(run: TaskRun): void {
  const { attended } = run;
  if (attended === undefined) return;
  run.attended = undefined;
  run.left = attended.result;
  attended.scope.cancel();
}
