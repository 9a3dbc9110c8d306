import { isUpstreamFailure } from '../src/task/attempt.ts';
import { defined } from '../src/base/defined.ts';
import { chargeShape } from '../src/money/charge-shape.ts';
import { amountMax } from '../src/money/money.ts';
import type { TaskCharge } from '../src/money/charge.ts';
import { asksAnybody, needsReview, priceAt, type PriceBasis } from '../src/money/price.ts';
import { areContradictory } from '../src/money/settle.ts';
import { racePoint } from '../src/base/race-point.ts';
import type { SettleRequest } from '../src/ledger/operation.ts';
import { taskFailures } from '../src/task/failures.ts';
import type { UpstreamCost } from '../src/task/cost.ts';
import type { Task } from '../src/task/record.ts';
import type { ChargeQuestion, Ending, EventOf } from '../src/task/state.ts';
import { behindCode, classified, type TaskError } from '../src/task/task.ts';
import type { TaskActivityDeps } from './deps.ts';
import { agreedCharge, isOutage, upstreamCostOf } from './settlement.ts';
import { viewOf } from './task-view.ts';
import type { FinishInput, TaskView } from './types.ts';

type SucceededTask = Task & { readonly outcome: Extract<Task['outcome'], { kind: 'succeeded' }> };
type Decision = EventOf<'ended' | 'reviewed'>;

const failedNote = 'the task has failed';

/**
 * Moves the money before writing the outcome. After a crash in between, the step can simply run again, because the
 * ledger then returns the existing entry. If the charge cannot be computed or the ledger rejects it, an operator is
 * asked. Throws only during outages.
 */
export function createFinishTask(deps: TaskActivityDeps) {
  const { tasks, ledger, log, metrics } = deps;
  return async function finishTask(finish: FinishInput): Promise<TaskView> {
    const task = await tasks.look(finish.task, finish.rev);
    if (task === undefined) return viewOf(task, deps);
    const { state } = task;
    const isDecided = state.at === 'ended' || state.at === 'review';
    if (state.at !== 'ending' && !isDecided) return viewOf(task, deps);
    const after = isDecided ? task : await step(task, await decide(task, state.ending, finish.basis));
    await Promise.all([
      deps.slots.release(task.id),
      finish.keyUnlimited === true || after.state.at !== 'ended'
        ? undefined
        : deps.keySlots.release(task.key, task.id),
    ]);
    return viewOf(after, deps);
  };

  async function decide(task: Task, ending: Ending, basis: PriceBasis): Promise<Decision> {
    try {
      if (ending.kind === 'failed') return await fail(task, ending.error, basis);
      const { outcome } = task;
      if (outcome?.kind !== 'succeeded') return await fail(task, taskFailures.interrupted, basis);
      return await succeed({ ...task, outcome }, ending, basis);
    } catch (err) {
      if (isOutage(err, deps)) throw err;
      log.error({ task: task.id, err }, 'the end of a task could not be recorded; an operator must decide');
      if (ending.kind === 'succeeded') return { kind: 'reviewed', why: 'unsettled' };
      if (ending.approved === true) return failed(task, ending.error);
      return { kind: 'reviewed', why: 'unreleased', ...defined({ error: ending.error }) };
    }
  }

  async function succeed(
    task: SucceededTask,
    { approved, accepted }: Extract<Ending, { kind: 'succeeded' }>,
    basis: PriceBasis,
  ): Promise<Decision> {
    const { hold: held } = task;
    const agreed = await agreedCharge(task, task.outcome.facts, { basis, deps, ...defined({ accepted }) });
    const { settlement } = agreed;
    const charge = settlement.amount.toString();
    const why = approved === true ? undefined : reasonToReview(task, agreed, basis);
    const cost = await upstreamCostOf(task, { basis, deps });
    if (why !== undefined) {
      // Look for an entry that closed the hold, because the workflow may have been reset after the charge was settled.
      const entries = await ledger.entriesOfTask(task.id);
      const isClosed = entries.some(({ kind }) => kind === 'settle' || kind === 'release');
      if (!isClosed) return { kind: 'reviewed', charge, why };
    }
    if (settlement.amount > amountMax) return { kind: 'reviewed', charge, why: 'unwritable' };
    const closed = await settle({
      account: task.account,
      task: task.id,
      held,
      amount: settlement.amount,
      basis: JSON.stringify({ version: basis.version, ...settlement, amount: charge }),
      upstream: cost,
      ...defined({ note: settlement.estimated ? 'estimated: the upstream reported no usage' : undefined }),
    });
    if (closed.closed === 'no_hold') return fail(task, taskFailures.interrupted, basis);
    const { upstream } = closed.entry;
    if (closed.closed === 'settled' && !closed.replayed) {
      deps.charges.note(chargeShape(task.model, basis), closed.charged);
    }
    if (closed.closed === 'released') return failed(task, taskFailures.interrupted, upstream);
    const { estimated: chargeEstimated } = settlement;
    return succeeded({ charge: closed.charged, chargeEstimated, ...defined({ upstream }) });
  }

  async function settle(request: SettleRequest): ReturnType<typeof ledger.settle> {
    const closed = await ledger.settle(request);
    if (closed.closed !== 'no_hold') return closed;
    const { account, task } = request;
    return (await ledger.blockHold({ account, task, note: failedNote })) === 'voided'
      ? closed
      : settle(request);
  }

  async function fail(task: Task, error: TaskError | undefined, basis: PriceBasis): Promise<Decision> {
    const { id, account } = task;
    const cost = await upstreamCostOf(task, { basis, deps });
    const done = await ledger.void({ account, task: id, note: failedNote, upstream: cost });
    // Report the upstream cost that the ledger stored, because a repeated step may compute it from facts that were
    // recorded later.
    const { closed, charged: charge, upstream } = done;
    if (closed !== 'settled') return failed(task, error, upstream);
    // A run before a reset, or a repair, has already charged the task. Keep that charge.
    return succeeded({ charge, chargeEstimated: false, ...defined({ upstream }) });
  }

  async function step(task: Task, event: Decision): Promise<Task> {
    await racePoint('finish.closed', task.id);
    const stepped = await tasks.step(task.id, event);
    const after = stepped.task ?? task;
    if (event.kind === 'ended') noteEnd(after, event);
    return after;
  }

  function noteEnd({ id: task, channel, status, charge }: Task, event: EventOf<'ended'>): void {
    if (status !== event.status) {
      log.error({ task, status, outcome: event.status }, 'the status of a task differs from its outcome');
      return;
    }
    log.info({ task, status, amount: charge }, 'a task has ended');
    metrics.countEnded(channel, event.error?.class ?? 'succeeded');
    if (event.upstream !== undefined) metrics.countMargin(event.charge, event.upstream);
  }
}

function succeeded(paid: Pick<EventOf<'ended'>, 'charge' | 'chargeEstimated' | 'upstream'>): Decision {
  return { kind: 'ended', status: 'succeeded', ...paid };
}

function failed(task: Task, error: TaskError | undefined, upstream?: UpstreamCost): Decision {
  return {
    kind: 'ended',
    status: 'failed',
    charge: 0n,
    chargeEstimated: false,
    ...defined({ upstream }),
    error: classified(error ?? upstreamError(task)),
  };
}

function reasonToReview(
  { kind, hold: held, outcome }: SucceededTask,
  { settlement: { amount, facts }, isBeyond }: TaskCharge,
  basis: PriceBasis,
): ChargeQuestion | undefined {
  const { price } = basis;
  if (needsReview(price, { held, amount })) return amount > amountMax ? 'unwritable' : 'above_hold';
  if (!asksAnybody(price)) return undefined;
  if (isBeyond) return 'beyond_request';
  const { usage, incredible } = outcome.facts;
  // Skip images, because generating one may use many more tokens than its size suggests.
  const isContradictory =
    kind === 'video' &&
    usage !== undefined &&
    areContradictory(usage, { ...price, lines: priceAt(basis, facts.channel ?? '').lines });
  return isContradictory || incredible === true ? 'contradictory' : undefined;
}

function upstreamError({ outcome, attempts }: Task): TaskError {
  if (outcome?.kind === 'failed') {
    const { message, messageToCaller, failure } = outcome;
    return { code: 'provider_error', message, ...defined({ messageToCaller }), ...failure };
  }
  // No other channel accepted the task, so report why the original job failed.
  const attempt = attempts.findLast(isUpstreamFailure);
  if (attempt === undefined) return taskFailures.upstream;
  const { code = '', message = '', failure } = attempt;
  return { code: 'provider_error', ...behindCode(code, { ...attempt, message }), ...failure };
}
