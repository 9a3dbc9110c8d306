import { ApplicationFailure } from '@temporalio/activity';
import { attemptId } from '../src/domain/ids.ts';
import type { Submitted } from '../src/providers/provider.ts';
import type { Attempt } from '../src/store/attempts.ts';
import { accept, newAttempt, resume } from './attempt-record.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import { noteWait } from './note-wait.ts';
import { requireTarget } from './open-target.ts';
import type { SubmitInput, SubmitResult } from './types.ts';

/** How far the upstream's timestamp of a job may differ from the attempt's. */
const clockSkewMs = 120_000;

/**
 * Decides the outcome of a submission that was interrupted. One that was never sent is withdrawn, by a write with
 * which any later try of it collides. If its response was lost, its job is looked up by the marker that it
 * carried. Throws (and is retried) while an upstream that can list does not show it yet.
 */
export function createFindLostJob(deps: ChannelActivityDeps) {
  return async function findLostJob(input: SubmitInput): Promise<SubmitResult> {
    const begun = await deps.attempts.withdraw(newAttempt(input), {
      code: 'never_sent',
      message: 'The task ended or moved on before this attempt was sent.',
    });
    if (begun.state !== 'sending' && begun.state !== 'ambiguous') return resume(begun, input, deps);
    const code = begun.code ?? 'submission_lost';
    await noteWait(input, 'lookup', deps);
    const found = await findJobsOf(begun, input, deps);
    if (found === undefined) return { kind: 'ambiguous', code };
    const [job] = found;
    if (job !== undefined && found.length === 1) return accept(job, input, deps);
    throw ApplicationFailure.create({
      message: `${found.length} upstream jobs carry the marker ${begun.marker} (attempt ${attemptId(input.task, input.n)})`,
      type: 'JobNotFound',
      category: 'BENIGN',
    });
  };
}

/** The upstream's jobs that carry the attempt's marker. Undefined: it cannot list them, or the request is gone. */
export async function findJobsOf(
  { marker, startedAt, endedAt }: Attempt,
  input: SubmitInput,
  deps: ChannelActivityDeps,
): Promise<readonly Submitted[] | undefined> {
  const { config, provider, context } = requireTarget(deps, input);
  if (provider.find === undefined) return undefined;
  const stored = await deps.requests.find(input.task);
  if (stored === undefined) return undefined;
  const { request } = stored;
  const lost = {
    request,
    marker,
    sentAfter: startedAt - clockSkewMs,
    sentBefore: (endedAt ?? deps.now()) + clockSkewMs,
  };
  return withHeartbeat(provider.find(lost, context(AbortSignal.timeout(config.timeouts.poll_ms))));
}
