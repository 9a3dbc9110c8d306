import { attemptId } from '../src/domain/ids.ts';
import { racePoint } from '../src/domain/race-point.ts';
import { isUnbilled, rescueCandidates, withoutChannels } from '../src/domain/rescue.ts';
import type { Failure } from '../src/domain/failure.ts';
import type { RouteCandidate } from '../src/domain/routing.ts';
import type { OperationStatus } from '../src/providers/provider.ts';
import type { Attempt } from '../src/store/attempts.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import type { PollInput, PollResult, SubmitInput } from './types.ts';

/** Where a task continues whose job failed, or was rejected, at its upstream. */

/** A job that was closed by an earlier run of this activity stays closed, whatever the upstream reports by now. */
export async function closedJob(
  input: PollInput,
  deps: Pick<ChannelActivityDeps, 'attempts' | 'gate'>,
): Promise<PollResult | undefined> {
  const { fallback } = input;
  if (fallback === undefined) return undefined;
  const attempts = await deps.attempts.ofTask(input.task);
  if (attemptOf(input, attempts)?.state !== 'failed') return undefined;
  await deps.gate.leave(input.task, input.candidate);
  return { kind: 'failed', next: withoutChannels(fallback.candidates, failedChannels(attempts)) };
}

/**
 * The decision that a failed job is replaced is one guarded write, which closes its attempt: from then on no run can end
 * the task by this job. Undefined: it is not replaced, and the failure is the task's.
 */
export async function replaceFailedJob(
  status: Extract<OperationStatus, { state: 'failed' }>,
  input: PollInput,
  deps: Pick<ChannelActivityDeps, 'attempts' | 'gate' | 'scrub' | 'log' | 'now'>,
): Promise<PollResult | undefined> {
  const { task, fallback, candidate } = input;
  if (fallback === undefined || !isUnbilled(status)) return undefined;
  const attempts = await withHeartbeat(deps.attempts.ofTask(task));
  const attempt = attemptOf(input, attempts);
  const next = rescueCandidates(fallback, {
    class: status.failure.class,
    channels: [...failedChannels(attempts), candidate.channel],
    remainingMs: input.deadlineAt - deps.now(),
  });
  if (attempt === undefined || next.length === 0) return undefined;
  const id = attemptId(task, attempt.n);
  await racePoint('poll.failed', id);
  const { code, failure } = status;
  const word = { code, message: deps.scrub(status.message), failure };
  if (!(await withHeartbeat(deps.attempts.fail(id, word)))) return undefined;
  deps.log.info({ task, channel: candidate.channel, code }, 'a failed job is replaced');
  await racePoint('poll.closed', id);
  await deps.gate.leave(task, candidate);
  return { kind: 'failed', next };
}

/** Where a task continues whose submission was rejected; empty: the rejection is its end. */
export async function afterRejection(
  { task, fallback, candidate, deadlineAt }: SubmitInput,
  failure: Failure | undefined,
  deps: Pick<ChannelActivityDeps, 'attempts' | 'now'>,
): Promise<readonly RouteCandidate[]> {
  if (fallback === undefined || failure === undefined) return [];
  const attempts = await withHeartbeat(deps.attempts.ofTask(task));
  return rescueCandidates(fallback, {
    class: failure.class,
    channels: [...failedChannels(attempts), candidate.channel],
    remainingMs: deadlineAt - deps.now(),
  });
}

function attemptOf({ candidate, operation }: PollInput, attempts: readonly Attempt[]): Attempt | undefined {
  return attempts.find(
    ({ channel, upstreamId }) => channel === candidate.channel && upstreamId === operation.id,
  );
}

function failedChannels(attempts: readonly Attempt[]): readonly string[] {
  return attempts.filter(isUpstreamFailure).map(({ channel }) => channel);
}

/** The upstream itself has said that there will be no result. */
export function isUpstreamFailure({ state }: Pick<Attempt, 'state'>): boolean {
  return state === 'failed' || state === 'rejected';
}
