import { isDeepStrictEqual } from 'node:util';
import { attemptId } from '../src/domain/ids.ts';
import { UpstreamError } from '../src/providers/provider.ts';
import type { Operation } from '../src/providers/provider.ts';
import { linkHeadersOf } from '../src/routing/channels.ts';
import type { Attempt } from '../src/store/attempts.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { findJobsOf } from './find-lost-job.ts';
import { withHeartbeat } from './heartbeat.ts';
import { requireTarget } from './open-target.ts';
import { settlementOf } from './settlement.ts';
import type {
  Adopted,
  AdoptInput,
  ChannelActivities,
  CompleteInput,
  Refused,
  SubmitInput,
  UndoInput,
} from './types.ts';

/** What operators say about a task's job, checked before it counts. */

/** A copy of the result is made within this, or the link is delivered as it is. */
const copyMaxMs = 20_000;

function refused(message: string): Refused {
  return { kind: 'refused', message };
}

/** Refuses a job that the upstream does not know, that is not this task's, or that another task has. */
export function createAdoptJob(deps: ChannelActivityDeps): ChannelActivities['adoptJob'] {
  return async function adoptJob(input: AdoptInput): Promise<Adopted | Refused> {
    const { task, n, candidate, adopt: id } = input;
    const attempt = await deps.attempts.find(attemptId(task, n));
    const isRepeated = attempt?.state === 'accepted' && attempt.upstreamId === id;
    if (attempt === undefined || !(isRepeated || ['sending', 'ambiguous'].includes(attempt.state))) {
      return refused(`The submission is ${attempt?.state ?? 'not on record'}: it has no unknown outcome.`);
    }
    const owner = await deps.attempts.findByUpstreamId(id);
    if (owner !== undefined && owner.channel === candidate.channel && owner.task !== task) {
      return refused(`The job ${id} of ${candidate.channel} belongs to ${owner.task}.`);
    }
    const job = await findNamed(input, attempt, deps);
    if (job.kind === 'refused' || input.dryRun) return job;
    const by = { channel: candidate.channel, adopted: true } as const;
    const accepted = await deps.attempts.accept(attemptId(task, n), by, job.operation);
    if (accepted === 'taken')
      return refused(`The job ${id} of ${candidate.channel} belongs to another task.`);
    if (accepted === 'closed') return refused('The submission has been decided meanwhile.');
    const version = BigInt(input.version);
    await deps.tasks.ownJob(task, { ...candidate, upstreamId: id, version });
    return job;
  };
}

/** Where the upstream lists jobs by what we mark them with, a job that is not in the list is somebody else's. */
async function findNamed(
  input: AdoptInput,
  attempt: Attempt,
  deps: ChannelActivityDeps,
): Promise<Adopted | Refused> {
  const { adopt: id, candidate } = input;
  const { channel } = candidate;
  try {
    const jobs = await findJobsOf(attempt, input, deps);
    const listed = jobs?.find(({ operation }) => operation.id === id)?.operation;
    const operation = listed ?? { id };
    const state = await askState(input, operation, deps);
    if (jobs !== undefined && listed === undefined) {
      return refused(`The job ${id} exists at ${channel}, but was not made by this task’s submission.`);
    }
    return { kind: 'adopted', operation, state };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const { code, message } = error;
    return error.gone
      ? refused(`${channel} does not know the job ${id} (${code}).`)
      : refused(`${channel} could not be asked about the job ${id} (${code}: ${deps.scrub(message)}).`);
  }
}

async function askState(
  input: SubmitInput,
  operation: Operation,
  deps: ChannelActivityDeps,
): Promise<Adopted['state']> {
  const { config, provider, context } = requireTarget(deps, input);
  const signal = AbortSignal.timeout(config.timeouts.poll_ms);
  return (await withHeartbeat(provider.status(operation, context(signal)))).state;
}

export function createCompleteTask(deps: ChannelActivityDeps): ChannelActivities['completeTask'] {
  return async function completeTask(input: CompleteInput) {
    const { task, kind, model, candidate, url, facts, held, basis } = input;
    const { amount } = await settlementOf(
      { task, held, basis },
      { kind: 'succeeded', candidate, model, facts },
      deps,
    );
    const completed = { kind: 'completed', charge: amount.toString() } as const;
    if (input.dryRun) return completed;
    const items = await withHeartbeat(
      deps.copyResults(task, [{ url }], {
        timeoutMs: copyMaxMs,
        headersFor: linkHeadersOf(deps.channels, { kind, model, ...candidate }),
      }),
    );
    const recorded = await deps.tasks.recordOutcome(task, { kind: 'succeeded', items, facts });
    if (!recorded && !(await isOurs(input, deps))) {
      return refused('The upstream’s own result came first.');
    }
    if (input.abandon !== undefined) await deps.attempts.supersede(attemptId(task, input.abandon));
    return completed;
  };
}

/** An earlier run of this activity recorded it. */
async function isOurs({ task, facts }: CompleteInput, { tasks }: ChannelActivityDeps): Promise<boolean> {
  const outcome = (await tasks.find(task))?.outcome;
  return outcome?.kind === 'succeeded' && isDeepStrictEqual(outcome.facts, facts);
}

export function createUndoAdoption(deps: ChannelActivityDeps): ChannelActivities['undoAdoption'] {
  return async function undoAdoption({ task, n, upstreamId, dryRun }: UndoInput) {
    const found = await deps.tasks.find(task);
    const hasEnded = found?.outcome !== undefined;
    if (hasEnded || (!dryRun && !(await deps.tasks.disownJob(task, upstreamId)))) {
      return refused(`The job ${upstreamId} has ended; its outcome counts.`);
    }
    if (!dryRun) await deps.attempts.disown(attemptId(task, n), upstreamId);
    return { kind: 'undone' } as const;
  };
}
