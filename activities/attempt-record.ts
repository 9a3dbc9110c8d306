import { Context } from '@temporalio/activity';
import { z } from 'zod';
import { attemptId, markerOf } from '../src/domain/ids.ts';
import { racePoint } from '../src/domain/race-point.ts';
import type { Submitted } from '../src/providers/provider.ts';
import type { Attempt, NewAttempt } from '../src/store/attempts.ts';
import type { ChannelActivityDeps } from './deps.ts';
import type { SubmitInput, SubmitResult } from './types.ts';

/** What a submission, and the search for a lost one, read from and write into the record of an attempt. */

type RecordDeps = Pick<ChannelActivityDeps, 'attempts' | 'tasks' | 'log'>;

/**
 * What a heartbeat carries once the upstream has accepted: enough for another attempt to continue if this worker dies
 * before it is written.
 */
const acceptedSchema = z.object({ operation: z.object({ id: z.string() }).catchall(z.string()) });

export function newAttempt(input: SubmitInput): NewAttempt {
  return { task: input.task, n: input.n, ...input.candidate, marker: markerOf(input) };
}

/** What an earlier run of this attempt left behind, according to the record. */
export async function resume(begun: Attempt, input: SubmitInput, deps: RecordDeps): Promise<SubmitResult> {
  const code = begun.code ?? '';
  switch (begun.state) {
    case 'accepted':
      if (begun.operation === undefined) throw new Error('an accepted attempt has an operation');
      return adopt(begun, { operation: begun.operation }, { input, deps });
    case 'rejected':
      // The run that wrote it may have died before the task got the upstream's words.
      await deps.tasks.recordOutcome(begun.task, {
        kind: 'failed',
        code,
        message: `${code}: ${begun.message ?? ''}`,
      });
      return { kind: 'rejected', code };
    case 'not_accepted':
    case 'withdrawn':
    case 'abandoned':
      return { kind: 'not_accepted', code };
    case 'sending':
    case 'ambiguous': {
      const remembered = acceptedSchema.safeParse(Context.current().info.heartbeatDetails);
      if (remembered.success) return accept(remembered.data, input, deps);
      // It may have been sent, and may be billed.
      return { kind: 'ambiguous', code: begun.code ?? 'submission_lost' };
    }
    default:
      return begun.state satisfies never;
  }
}

/** The upstream has the job: it is recorded first and then shown. */
export async function accept(
  submitted: Submitted,
  input: SubmitInput,
  deps: RecordDeps,
): Promise<SubmitResult> {
  const { task, candidate } = input;
  const id = attemptId(task, input.n);
  const accepted = await deps.attempts.accept(id, candidate, submitted.operation);
  switch (accepted) {
    case 'accepted':
      await racePoint('submit.accepted', id);
      return adopt(candidate, submitted, { input, deps });
    case 'taken':
      return { kind: 'ambiguous', code: 'upstream_id_taken' };
    case 'closed':
      // It was abandoned before: the job that runs now belongs to no task, and is recorded for an operator.
      deps.log.error(
        { task, channel: candidate.channel, upstream_id: submitted.operation.id },
        'an upstream accepted a submission that had been abandoned; cancel its job there',
      );
      return { kind: 'not_accepted', code: 'given_up' };
    default:
      return accepted satisfies never;
  }
}

/**
 * Shows an accepted job in the projection; `where` is its channel and credential, which may be an earlier attempt's.
 */
export async function adopt(
  where: Pick<Attempt, 'channel' | 'credential'>,
  { operation, traceId = operation.id }: Submitted,
  { input, deps }: { readonly input: SubmitInput; readonly deps: Pick<RecordDeps, 'tasks'> },
): Promise<SubmitResult> {
  const { channel, credential } = where;
  const isAsked = channel === input.candidate.channel && credential === input.candidate.credential;
  await deps.tasks.markSubmitted(input.task, {
    channel,
    credential,
    version: BigInt(input.version),
    upstreamId: operation.id,
    traceId,
  });
  return { kind: 'accepted', operation, ...(isAsked ? {} : { candidate: { channel, credential } }) };
}
