import { isTerminal } from '../src/domain/task.ts';
import type { TaskInput, TaskResult } from '../src/domain/task-input.ts';
import type { Task } from '../src/domain/task-record.ts';
import type { TaskActivityDeps } from './deps.ts';
import { jobOf } from './find-job.ts';
import type { Claim } from './types.ts';

/**
 * The first step of a workflow: the task becomes its own, and nobody else can abandon it from then on. Also the first
 * step after a reset, whatever the clock says by then: the workflow resumes from what its earlier run wrote.
 */
export function createClaimTask({ tasks, attempts, ledger }: TaskActivityDeps) {
  return async function claimTask(input: TaskInput, version: string): Promise<Claim> {
    const { task } = input;
    const [found, entries] = await Promise.all([
      tasks.claim(task, BigInt(input.hold)),
      ledger.entriesOfTask(task),
    ]);
    const isHeld = entries.some(({ kind }) => kind === 'hold');
    const isClosed = entries.some(({ kind }) => kind === 'settle' || kind === 'release');
    if (found === undefined) {
      if (!isHeld || isClosed || (await tasks.find(task)) !== undefined) return { state: 'given_up' };
      await restoreProjection(input, version);
      return resume(task);
    }
    if (isTerminal(found.status)) return { state: 'ended', result: resultOf(found) };
    if (!isHeld) return { state: 'not_held' };
    return found.unstarted === undefined ? resume(task) : { state: 'open' };
  };

  /** The projection was lost, but the creation was not abandoned: that would have voided the hold first. */
  async function restoreProjection(input: TaskInput, version: string): Promise<void> {
    const { task: id, account, key, kind, model, createdAt, deadlineAt, hold } = input;
    await tasks.insert(
      { id, account, key, kind, model, createdAt, deadlineAt, hold: BigInt(hold) },
      BigInt(version),
    );
  }

  async function resume(task: string): Promise<Claim> {
    const begun = await attempts.ofTask(task);
    // A job that failed and was not replaced yet is watched again: its record says what follows.
    const accepted =
      begun.find(({ state }) => state === 'accepted') ?? begun.findLast(({ state }) => state === 'failed');
    const job = accepted === undefined ? undefined : jobOf(accepted);
    if (accepted === undefined || job === undefined) return { state: 'open' };
    return { state: 'accepted', attempts: accepted.n, job };
  }
}

function resultOf({ status, charge, error }: Task): TaskResult {
  return status === 'succeeded'
    ? { status, charge: (charge ?? 0n).toString() }
    : { status: 'failed', code: error?.code ?? 'internal_error' };
}
