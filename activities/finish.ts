import { metricMeter } from '@temporalio/activity';
import { defined } from '../src/domain/defined.ts';
import { needsReview } from '../src/domain/price.ts';
import type { Settlement } from '../src/domain/price.ts';
import { taskFailures } from '../src/domain/task-failures.ts';
import { racePoint } from '../src/domain/race-point.ts';
import { classified } from '../src/domain/task.ts';
import type { TaskError } from '../src/domain/task.ts';
import type { TerminalWrite } from '../src/store/tasks.ts';
import type { TaskActivityDeps } from './deps.ts';
import { isUpstreamFailure } from './rescue.ts';
import { settlementOf } from './settlement.ts';
import type { SucceededOutcome } from './settlement.ts';
import type { FinishedTask, FinishTask } from './types.ts';

/**
 * The money first, then the projection: a crash between the two repeats the step, and the ledger answers with the
 * entry that is there. What the ledger says wins: a task that was released can no longer succeed.
 */
export function createFinishTask(deps: TaskActivityDeps) {
  const { tasks, ledger } = deps;
  return async function finishTask(finish: FinishTask): Promise<FinishedTask> {
    const finished = await (finish.outcome.kind === 'succeeded'
      ? succeed(finish, finish.outcome)
      : fail(finish, finish.outcome.error));
    const hasEnded = 'charge' in finished;
    await Promise.all([
      deps.slots.release(finish.task),
      finish.key === undefined || !hasEnded ? undefined : deps.keySlots.release(finish.key, finish.task),
    ]);
    return finished;
  };

  async function succeed(finish: FinishTask, outcome: SucceededOutcome): Promise<FinishedTask> {
    const { task, account, basis } = finish;
    const held = BigInt(finish.held);
    const settlement = await agreedSettlement(finish, outcome);
    if (finish.review === 'possible' && needsReview(basis.price, { held, amount: settlement.amount })) {
      // After a reset the charge may have been accepted and settled before.
      const entries = await ledger.entriesOfTask(task);
      const isClosed = entries.some(({ kind }) => kind === 'settle' || kind === 'release');
      if (!isClosed) return { review: settlement.amount.toString() };
    }
    const note = settlement.estimated ? 'estimated: the upstream reported no usage' : undefined;
    const closed = await ledger.settle({
      account,
      task,
      held,
      amount: settlement.amount,
      basis: JSON.stringify({ version: basis.version, ...settlement, amount: settlement.amount.toString() }),
      ...defined({ note }),
    });
    if (closed.closed === 'released') return failInstead(finish, taskFailures.interrupted);
    await show(task, {
      status: 'succeeded',
      version: BigInt(finish.version),
      charge: closed.charged,
      chargeEstimated: settlement.estimated,
    });
    return { charge: closed.charged.toString() };
  }

  /** Where another job took the place of a failed one, the caller pays once, and never more than the hold. */
  async function agreedSettlement(finish: FinishTask, outcome: SucceededOutcome): Promise<Settlement> {
    const settlement = await settlementOf(finish, outcome, deps);
    const held = BigInt(finish.held);
    if (finish.hasFallback !== true || settlement.amount <= held) return settlement;
    const wasReplaced = (await deps.attempts.ofTask(finish.task)).some(isUpstreamFailure);
    return wasReplaced ? { ...settlement, amount: held } : settlement;
  }

  async function failInstead(finish: FinishTask, error: TaskError): Promise<FinishedTask> {
    const finished = await fail(finish, error);
    return { ...finished, instead: { kind: 'failed', error: { code: error.code } } };
  }

  async function fail(finish: FinishTask, error: TaskError | undefined): Promise<FinishedTask> {
    const { task, account } = finish;
    const closed = await ledger.release({ account, task, held: BigInt(finish.held) });
    if (closed.closed === 'settled') {
      // The task was paid before (a workflow reset, a repair): it stays what it was.
      await show(task, {
        status: 'succeeded',
        version: BigInt(finish.version),
        charge: closed.charged,
        chargeEstimated: false,
      });
      return { charge: closed.charged.toString(), instead: { kind: 'succeeded' } };
    }
    const failed = classified(error ?? (await upstreamError(task)));
    await show(task, {
      status: 'failed',
      version: BigInt(finish.version),
      charge: 0n,
      chargeEstimated: false,
      error: failed,
    });
    metricMeter
      .createCounter('mediary_task_failures', undefined, 'Failed tasks by class.')
      .add(1, { class: failed.class });
    return { charge: '0', failure: failed.class };
  }

  /**
   * What the ledger has decided. A projection that contradicts it is our own fault: it is reported and left as it is.
   */
  async function show(task: string, write: TerminalWrite): Promise<void> {
    await racePoint('finish.closed', task);
    const status = await tasks.finish(task, write);
    if (status === write.status) {
      deps.log.info({ task, status, amount: write.charge }, 'a task has ended');
      return;
    }
    deps.log.error(
      { task, status: status ?? 'absent', outcome: write.status },
      'a task could not be shown as it ended',
    );
  }

  async function upstreamError(task: string): Promise<TaskError> {
    const outcome = (await tasks.find(task))?.outcome;
    if (outcome?.kind === 'failed') {
      return { code: 'provider_error', message: outcome.message, ...outcome.failure };
    }
    // A job that was to be replaced, and no channel accepted another one: its words stand in its attempt.
    const failed = (await deps.attempts.ofTask(task)).findLast(isUpstreamFailure);
    if (failed === undefined) return taskFailures.upstream;
    const { code = '', message = '', failure } = failed;
    return { code: 'provider_error', message: `${code}: ${message}`, ...failure };
  }
}
