import { metricMeter } from '@temporalio/activity';
import { defined } from '../src/domain/defined.ts';
import { needsFormula, settle } from '../src/domain/price.ts';
import type { Settlement } from '../src/domain/price.ts';
import { classified } from '../src/domain/task.ts';
import type { TaskError } from '../src/domain/task.ts';
import { taskProviderFor } from '../src/routing/channels.ts';
import type { TaskActivityDeps } from './deps.ts';
import type { FinishedTask, FinishOutcome, FinishTask } from './types.ts';

type Succeeded = Extract<FinishOutcome, { kind: 'succeeded' }>;

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
    await deps.slots.release(finish.task);
    return finished;
  };

  async function succeed(finish: FinishTask, outcome: Succeeded): Promise<FinishedTask> {
    const { task, account, basis } = finish;
    const held = BigInt(finish.held);
    const settlement = await settlementOf(finish, outcome);
    const note = settlement.estimated ? 'estimated: the upstream told no usage' : undefined;
    const closed = await ledger.settle({
      account,
      task,
      held,
      amount: settlement.amount,
      basis: JSON.stringify({ version: basis.version, ...settlement, amount: settlement.amount.toString() }),
      ...defined({ note }),
    });
    if (closed.closed === 'released') return fail(finish, interruptedError);
    await tasks.finish(task, {
      status: 'succeeded',
      version: BigInt(finish.version),
      charge: closed.charged,
      chargeEstimated: settlement.estimated,
    });
    return { charge: closed.charged.toString() };
  }

  async function settlementOf(finish: FinishTask, outcome: Succeeded): Promise<Settlement> {
    const held = BigInt(finish.held);
    const input = { basis: finish.basis, channel: outcome.candidate.channel, facts: outcome.facts, held };
    if (!needsFormula(finish.basis.price.unit, outcome.facts)) return settle(input);
    const estimatedTokens = await tokensByFormula(finish, outcome);
    return settle({ ...input, ...defined({ estimatedTokens }) });
  }

  /** The adapter's formula on the response's own duration and size. */
  async function tokensByFormula(finish: FinishTask, outcome: Succeeded): Promise<bigint | undefined> {
    const { resolution, ratio, durationSeconds } = outcome.facts;
    const stored = await deps.requests.find(finish.task);
    const channel = deps.channels(outcome.candidate.channel);
    if (stored === undefined || channel === undefined) return undefined;
    if (resolution === undefined || ratio === undefined || durationSeconds === undefined) return undefined;
    const provider = taskProviderFor(channel.provider, stored.request.kind);
    const upstream = channel.config.models[outcome.model]?.upstream;
    return provider?.estimateTokens?.(stored.request, { resolution, ratio, durationSeconds }, upstream);
  }

  async function fail(finish: FinishTask, error: TaskError | undefined): Promise<FinishedTask> {
    const { task, account } = finish;
    const closed = await ledger.release({ account, task, held: BigInt(finish.held) });
    if (closed.closed === 'settled') {
      // The task was paid before (a workflow reset, a repair): it stays what it was.
      await tasks.finish(task, {
        status: 'succeeded',
        version: BigInt(finish.version),
        charge: closed.charged,
        chargeEstimated: false,
      });
      return { charge: closed.charged.toString() };
    }
    const failed = classified(error ?? (await upstreamWords(task)));
    await tasks.finish(task, {
      status: 'failed',
      version: BigInt(finish.version),
      charge: 0n,
      chargeEstimated: false,
      error: failed,
    });
    metricMeter
      .createCounter('mediary_task_failures', undefined, 'Failed tasks by class.')
      .add(1, { class: failed.class });
    return { charge: '0' };
  }

  async function upstreamWords(task: string): Promise<TaskError> {
    const outcome = (await tasks.find(task))?.outcome;
    if (outcome?.kind !== 'failed') return { code: 'provider_error', message: 'The upstream failed.' };
    return { code: 'provider_error', message: outcome.message, ...outcome.failure };
  }
}

const interruptedError: TaskError = {
  code: 'internal_error',
  message: 'The task was interrupted inside the service. Nothing was charged.',
};
