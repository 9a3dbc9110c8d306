import { taskProviderFor } from '../routing/channels.ts';
import type { Channels } from '../routing/channels.ts';
import { failureOfCode } from '../domain/task-failures.ts';
import { chargeOf } from '../ledger/entry.ts';
import type { LedgerEntry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Attempt, AttemptStore } from '../store/attempts.ts';
import type { TaskOutcome } from '../domain/task-record.ts';
import type { TaskStore } from '../store/tasks.ts';
import type { TaskWorkflow } from './task-workflows.ts';

export interface RebuildDeps {
  readonly workflows: AsyncIterable<TaskWorkflow>;
  /** A task store whose clock stands at this moment: what is rebuilt keeps its times. */
  readonly tasksAt: (milliseconds: number) => TaskStore;
  readonly attempts: Pick<AttemptStore, 'ofTask'>;
  readonly ledger: Pick<Ledger, 'entriesOfTask'>;
  readonly channels: Channels;
}

export interface RebuildReport {
  /** Projections that existed and are unchanged. */
  readonly present: number;
  readonly rebuilt: number;
  /** Of those: succeeded, but the upstream no longer reports the links. */
  readonly withoutResult: number;
  /** Workflows whose task was never admitted. */
  readonly refused: number;
}

const askTimeoutMs = 30_000;

/**
 * Writes the projections that are missing: what was asked from the workflow's input, how far it came from the attempts,
 * how it ended from the ledger and the workflow's result, and the links from the upstream. Repeatable, and safe
 * while tasks run: an existing projection is never touched, and later writes of the workflow win by their version.
 */
export async function rebuildProjection(deps: RebuildDeps): Promise<RebuildReport> {
  const report = { present: 0, rebuilt: 0, withoutResult: 0, refused: 0 };
  for await (const workflow of deps.workflows) {
    const outcome = await rebuildTask(workflow, deps);
    report[outcome] += 1;
    if (outcome === 'withoutResult') report.rebuilt += 1;
  }
  return report;
}

async function rebuildTask(workflow: TaskWorkflow, deps: RebuildDeps): Promise<keyof RebuildReport> {
  const { input } = workflow;
  const tasks = deps.tasksAt(input.createdAt);
  if ((await tasks.find(input.task)) !== undefined) return 'present';
  // A creation that was abandoned has no task, whatever was held for a moment.
  if (workflow.result?.status === 'refused') return 'refused';
  const admitted = await deps.ledger.entriesOfTask(input.task);
  if (!admitted.some(({ kind }) => kind === 'hold')) return 'refused';
  const { task: id, account, key, kind, model, createdAt, deadlineAt } = input;
  const facts = { id, account, key, kind, model, createdAt, deadlineAt, hold: BigInt(input.hold) };
  await tasks.insert(facts, firstVersion);
  const attempts = await deps.attempts.ofTask(id);
  const accepted = attempts.find(({ state }) => state === 'accepted');
  if (accepted !== undefined) await markSubmitted(accepted, deps);
  // Read again: whoever closed the task before our insert found no projection to write to.
  const close = (await deps.ledger.entriesOfTask(id)).find(
    ({ kind: of }) => of === 'settle' || of === 'release',
  );
  return close === undefined ? 'rebuilt' : end(workflow, close, { accepted, deps });
}

/** Below every version that a workflow writes. */
const firstVersion = 1n;
const submittedVersion = 2n;
const endedVersion = 3n;

async function markSubmitted(attempt: Attempt, { tasksAt }: RebuildDeps): Promise<void> {
  const { task, channel, credential, upstreamId, startedAt, endedAt } = attempt;
  await tasksAt(endedAt ?? startedAt).markSubmitted(task, {
    version: submittedVersion,
    channel,
    credential,
    upstreamId: upstreamId ?? '',
    traceId: '',
  });
}

interface Ending {
  readonly accepted: Attempt | undefined;
  readonly deps: RebuildDeps;
}

async function end(
  { input, result }: TaskWorkflow,
  close: LedgerEntry,
  { accepted, deps }: Ending,
): Promise<'rebuilt' | 'withoutResult'> {
  const tasks = deps.tasksAt(close.at);
  if (close.kind === 'release') {
    const code = result?.status === 'failed' ? result.code : 'internal_error';
    const error = failureOfCode(code);
    await tasks.finish(input.task, {
      status: 'failed',
      version: endedVersion,
      charge: 0n,
      chargeEstimated: false,
      error,
    });
    return 'rebuilt';
  }
  const outcome = accepted === undefined ? undefined : await askUpstream(accepted, input, deps);
  if (outcome !== undefined) await tasks.recordOutcome(input.task, outcome);
  await tasks.finish(input.task, {
    status: 'succeeded',
    version: endedVersion,
    charge: chargeOf(close),
    chargeEstimated: close.note?.startsWith('estimated') ?? false,
  });
  return outcome === undefined ? 'withoutResult' : 'rebuilt';
}

/** Undefined: the upstream does not answer, or has forgotten the job. */
async function askUpstream(
  { channel: id, credential, operation }: Attempt,
  { kind, model }: TaskWorkflow['input'],
  { channels }: RebuildDeps,
): Promise<TaskOutcome | undefined> {
  const channel = channels(id);
  const provider = channel === undefined ? undefined : taskProviderFor(channel.provider, kind);
  if (channel === undefined || provider === undefined || operation === undefined) return undefined;
  try {
    const context = channel.context(credential, model, AbortSignal.timeout(askTimeoutMs));
    const status = await provider.status(operation, context);
    return status.state === 'succeeded'
      ? { kind: 'succeeded', items: status.items, facts: status.facts }
      : undefined;
  } catch {
    return undefined;
  }
}
