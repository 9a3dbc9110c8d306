import { Context } from '@temporalio/activity';
import { z } from 'zod';
import { defined } from '../src/domain/defined.ts';
import { attemptId, markerOf } from '../src/domain/ids.ts';
import { racePoint } from '../src/domain/race-point.ts';
import type { RouteCandidate } from '../src/domain/routing.ts';
import type { Operation, Submitted } from '../src/providers/provider.ts';
import type { Attempt, NewAttempt } from '../src/store/attempts.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import { persistently } from './persistently.ts';
import { afterRejection } from './rescue.ts';
import type { SubmitInput, SubmitResult } from './types.ts';

/** What a submission, and the search for a lost one, read from and write into the record of an attempt. */

type RecordDeps = Pick<ChannelActivityDeps, 'attempts' | 'tasks' | 'log' | 'now'>;

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
      return {
        ...(await adopt(begun, { operation: operationOf(begun) }, { input, deps })),
        ...acceptedAttempt(begun, input),
      };
    case 'failed':
      // Whoever watches it learns from the record that it is closed.
      return acceptedAttempt(begun, input);
    case 'rejected':
      // The run that wrote it may have died before the task got the upstream's words.
      return rejected(begun, input, deps);
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

/** The job of an attempt that was accepted, as its record shows it. */
export function acceptedAttempt(begun: Attempt, input: SubmitInput): SubmitResult {
  const acceptedAt = begun.endedAt ?? begun.startedAt;
  return { kind: 'accepted', operation: operationOf(begun), acceptedAt, ...elsewhere(begun, input) };
}

function operationOf({ operation }: Attempt): Operation {
  if (operation === undefined) throw new Error('an accepted attempt has an operation');
  return operation;
}

/** The record says that the upstream refused the request: the task continues elsewhere, or has failed. */
export async function rejected(
  word: Pick<Attempt, 'code' | 'message' | 'failure'>,
  input: SubmitInput,
  deps: Pick<RecordDeps, 'attempts' | 'tasks' | 'now'>,
): Promise<SubmitResult> {
  const { code = '', message = '', failure } = word;
  const next = await afterRejection(input, failure, deps);
  if (next.length > 0) return { kind: 'rejected', code, next };
  const outcome = { kind: 'failed', code, message: `${code}: ${message}`, ...defined({ failure }) } as const;
  await withHeartbeat(persistently(() => deps.tasks.recordOutcome(input.task, outcome), deps.now));
  return { kind: 'rejected', code };
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
  const facts = {
    channel,
    credential,
    version: BigInt(input.version),
    upstreamId: operation.id,
    traceId,
  };
  await deps.tasks.markSubmitted(input.task, facts);
  if (input.replaces === true) await deps.tasks.replaceJob(input.task, facts);
  return { kind: 'accepted', operation, ...elsewhere(where, input) };
}

/** Where the job is, if that is not the candidate that was asked. */
function elsewhere(
  { channel, credential }: Pick<Attempt, 'channel' | 'credential'>,
  { candidate }: SubmitInput,
): { readonly candidate?: RouteCandidate } {
  const isAsked = channel === candidate.channel && credential === candidate.credential;
  return isAsked ? {} : { candidate: { channel, credential } };
}
