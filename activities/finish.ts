import { isUpstreamFailure } from '../src/domain/attempt.ts';
import { defined } from '../src/domain/defined.ts';
import { amountMax } from '../src/domain/money.ts';
import { needsReview } from '../src/domain/price.ts';
import type { PriceBasis, Settlement } from '../src/domain/price.ts';
import { racePoint } from '../src/domain/race-point.ts';
import { taskFailures } from '../src/domain/task-failures.ts';
import type { Task } from '../src/domain/task-record.ts';
import type { Ending, TaskEvent } from '../src/domain/task-state.ts';
import { classified } from '../src/domain/task.ts';
import type { TaskError } from '../src/domain/task.ts';
import type { TaskActivityDeps } from './deps.ts';
import { settlementOf } from './settlement.ts';
import { givenUpView, viewOf } from './task-view.ts';
import type { FinishInput, TaskView } from './types.ts';

type SucceededTask = Task & { readonly outcome: Extract<Task['outcome'], { kind: 'succeeded' }> };

/**
 * The money first, then the end in the record: a crash between the two repeats the step, and the ledger answers with the
 * entry that is there. What the ledger says wins: a task that was released can no longer succeed. Never throws for what
 * an upstream has said: a charge that is not credible, or that no ledger can hold, is a question to a person.
 */
export function createFinishTask(deps: TaskActivityDeps) {
  const { tasks, ledger } = deps;
  return async function finishTask(finish: FinishInput): Promise<TaskView> {
    const task = await tasks.look(finish.task, finish.rev);
    if (task === undefined) return givenUpView;
    if (task.state.at !== 'ending') return viewOf(task);
    const after = await end(task, task.state.ending, finish.basis);
    await Promise.all([
      deps.slots.release(task.id),
      finish.keyUnlimited === true || after.state.at !== 'ended'
        ? undefined
        : deps.keySlots.release(task.key, task.id),
    ]);
    return viewOf(after);
  };

  async function end(task: Task, ending: Ending, basis: PriceBasis): Promise<Task> {
    if (ending.kind === 'failed') return fail(task, ending.error);
    const { outcome } = task;
    if (outcome?.kind !== 'succeeded') return fail(task, taskFailures.interrupted);
    return succeed({ ...task, outcome }, ending.approved === true, basis);
  }

  async function succeed(task: SucceededTask, isApproved: boolean, basis: PriceBasis): Promise<Task> {
    const { hold: held } = task;
    const settlement = await agreedSettlement(task, basis);
    const charge = settlement.amount.toString();
    if (!isApproved && needsReview(basis.price, { held, amount: settlement.amount })) {
      // After a reset the charge may have been accepted and settled before.
      const entries = await ledger.entriesOfTask(task.id);
      const isClosed = entries.some(({ kind }) => kind === 'settle' || kind === 'release');
      const why = settlement.amount > amountMax ? 'unwritable' : 'above_hold';
      if (!isClosed) return step(task, { kind: 'reviewed', charge, why });
    }
    try {
      const closed = await ledger.settle({
        account: task.account,
        task: task.id,
        held,
        amount: settlement.amount,
        basis: JSON.stringify({ version: basis.version, ...settlement, amount: charge }),
        ...defined({ note: settlement.estimated ? 'estimated: the upstream reported no usage' : undefined }),
      });
      // Nothing is held: nothing can be charged.
      if (closed.closed === 'no_hold') return await fail(task, taskFailures.interrupted);
      if (closed.closed === 'released') return await failed(task, taskFailures.interrupted);
      const { estimated: chargeEstimated } = settlement;
      return await step(task, {
        kind: 'ended',
        status: 'succeeded',
        charge: closed.charged,
        chargeEstimated,
      });
    } catch (error) {
      if (error instanceof RangeError) return step(task, { kind: 'reviewed', charge, why: 'unwritable' });
      throw error;
    }
  }

  /** Where another job took the place of a failed one, the caller pays once, and never more than the hold. */
  async function agreedSettlement(task: SucceededTask, basis: PriceBasis): Promise<Settlement> {
    const settlement = await settlementOf(task, task.outcome.facts, { basis, deps });
    const wasReplaced = task.attempts.some(isUpstreamFailure);
    return wasReplaced && settlement.amount > task.hold ? { ...settlement, amount: task.hold } : settlement;
  }

  async function fail(task: Task, error: TaskError | undefined): Promise<Task> {
    const { id, account } = task;
    const { closed, charged: charge } = await ledger.void({ account, task: id, note: 'the task has failed' });
    if (closed !== 'settled') return failed(task, error);
    // The task was paid before (a workflow reset, a repair): it stays what it was.
    return step(task, { kind: 'ended', status: 'succeeded', charge, chargeEstimated: false });
  }

  async function failed(task: Task, error: TaskError | undefined): Promise<Task> {
    return step(task, {
      kind: 'ended',
      status: 'failed',
      charge: 0n,
      chargeEstimated: false,
      error: classified(error ?? upstreamError(task)),
    });
  }

  async function step(task: Task, event: TaskEvent): Promise<Task> {
    await racePoint('finish.closed', task.id);
    const stepped = await tasks.step(task.id, event);
    const { status = 'absent', charge } = stepped.task ?? {};
    if (event.kind === 'ended' && status === event.status) {
      deps.log.info({ task: task.id, status, amount: charge }, 'a task has ended');
      deps.metrics.countEnded(task.channel, event.error?.class ?? 'succeeded');
    } else if (event.kind === 'ended') {
      deps.log.error(
        { task: task.id, status, outcome: event.status },
        'a task could not be shown as it ended',
      );
    }
    return stepped.task ?? task;
  }
}

function upstreamError({ outcome, attempts }: Task): TaskError {
  if (outcome?.kind === 'failed')
    return { code: 'provider_error', message: outcome.message, ...outcome.failure };
  // A job that was to be replaced, and no channel accepted another one: its words stand in its attempt.
  const attempt = attempts.findLast(isUpstreamFailure);
  if (attempt === undefined) return taskFailures.upstream;
  const { code = '', message = '', failure } = attempt;
  return { code: 'provider_error', message: `${code}: ${message}`, ...failure };
}
