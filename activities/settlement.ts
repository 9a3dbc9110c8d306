import { isUpstreamFailure } from '../src/task/attempt.ts';
import { defined } from '../src/base/defined.ts';
import type { Micros } from '../src/money/money.ts';
import { chargeTask, inPricedSizes } from '../src/money/charge.ts';
import type { ChargeInput, TaskCharge } from '../src/money/charge.ts';
import { priceAt } from '../src/money/price.ts';
import type { PriceBasis } from '../src/money/price.ts';
import { atMost, isPriced, needsFormula, settle } from '../src/money/settle.ts';
import { costBasis } from '../src/money/cost-terms.ts';
import { costOfTask, isBilledByRules, jobOf } from '../src/task/cost.ts';
import type { UpstreamCost } from '../src/task/cost.ts';
import type { Task } from '../src/task/record.ts';
import type { SettleFacts } from '../src/money/settle-facts.ts';
import { taskProviderFor } from '../src/routing/channels.ts';
import type { TaskActivityDeps } from './deps.ts';

interface Terms {
  readonly basis: PriceBasis;
  readonly deps: Pick<TaskActivityDeps, 'requests' | 'channels' | 'tasks'>;
}

/**
 * What a task that succeeded with these facts is charged, at the prices frozen in its basis: never more than a person has
 * accepted; and where another job took the place of a failed one, the caller pays once, and never more than the hold.
 */
export async function agreedCharge(
  task: Task,
  facts: SettleFacts,
  { accepted, ...terms }: Terms & { readonly accepted?: string },
): Promise<TaskCharge> {
  const charge = chargeTask(task.kind, await chargeInput(task, facts, terms));
  const limits = task.attempts.some(isUpstreamFailure) ? [task.hold] : [];
  if (accepted !== undefined) limits.push(BigInt(accepted));
  return { ...charge, settlement: limits.reduce(atMost, charge.settlement) };
}

async function chargeInput(task: Task, facts: SettleFacts, terms: Terms): Promise<ChargeInput> {
  const { basis } = terms;
  const { channel = task.plan.candidates[0]?.channel ?? '' } = task;
  const input = { basis, channel, facts, held: task.hold };
  if (!needsFormula(priceAt(basis, channel), facts)) return input;
  return { ...input, tokensOf: await formulaOf({ ...task, channel }, terms) };
}

/** Whether the same settlement may succeed later: MongoDB, or the way to it, is at fault, and not what is settled. */
export function isOutage(error: unknown, { tasks }: Pick<TaskActivityDeps, 'tasks'>): boolean {
  return tasks.isOutage(error) || (error instanceof Error && error.name === 'LedgerUnavailableError');
}

/** What the task cost its operator, at the terms frozen in its attempts; what cannot be computed is not known. */
export async function upstreamCostOf(task: Task, terms: Terms): Promise<UpstreamCost> {
  const { channel = task.attempts.at(-1)?.channel ?? '', model } = task;
  return { ...costOfTask(task, await costByRules(task, terms)), channel, model };
}

async function costByRules(task: Task, { basis, deps }: Terms): Promise<Micros | undefined> {
  const { outcome, seconds } = task;
  const terms = jobOf(task)?.terms;
  if (terms?.price === undefined || !isBilledByRules(task, terms)) return undefined;
  // A failure reports nothing: it is billed as what was asked for.
  const reported = outcome?.kind === 'succeeded' ? outcome.facts : defined({ durationSeconds: seconds });
  const facts = inPricedSizes(reported, terms.price);
  try {
    const { tokensOf, ...input } = await chargeInput(task, facts, {
      basis: costBasis(basis, terms.price),
      deps,
    });
    // An upstream bills what it says it has made, whatever was asked for.
    const bill = settle({ ...input, ...defined({ estimatedTokens: tokensOf?.(facts) }) });
    return isPriced(bill) ? bill.amount : undefined;
  } catch (error) {
    if (isOutage(error, deps)) throw error;
    return undefined;
  }
}

/** The adapter's formula on the response's own duration and size. */
async function formulaOf(
  { id, channel: name, model }: Pick<Task, 'id' | 'model'> & { readonly channel: string },
  { basis, deps }: Terms,
): Promise<ChargeInput['tokensOf']> {
  const stored = await deps.requests.find(id);
  const channel = deps.channels(name);
  if (stored === undefined || channel === undefined) return undefined;
  const { request } = stored;
  const provider = taskProviderFor(channel.provider, request.kind);
  const upstream = channel.config.models[model]?.upstream;
  const given = defined({ inputSeconds: basis.input_seconds });
  return ({ resolution = basis.facts.resolution, ratio = basis.facts.ratio, durationSeconds }) =>
    resolution === undefined || ratio === undefined || durationSeconds === undefined
      ? undefined
      : provider?.estimateTokens?.(request, { resolution, ratio, durationSeconds, ...given }, upstream);
}
