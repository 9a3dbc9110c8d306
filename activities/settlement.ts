import { isUpstreamFailure } from '../src/task/attempt.ts';
import { defined } from '../src/base/defined.ts';
import type { Micros } from '../src/money/money.ts';
import { chargeTask, inPricedSizes, type ChargeInput, type TaskCharge } from '../src/money/charge.ts';
import { isPricedBy, priceAt, type PriceBasis } from '../src/money/price.ts';
import { atMost, isPriced, needsFormula, settle } from '../src/money/settle.ts';
import { costBasis } from '../src/money/cost-terms.ts';
import { costOfTask, isBilledByRules, jobOf, type UpstreamCost } from '../src/task/cost.ts';
import type { Task } from '../src/task/record.ts';
import type { SettleFacts } from '../src/money/settle-facts.ts';
import { taskProviderFor } from '../src/routing/channels.ts';
import { withInputSeconds } from '../src/routing/measured-facts.ts';
import { tokenFormula } from '../src/routing/token-formula.ts';
import type { TaskActivityDeps } from './deps.ts';

interface Terms {
  readonly basis: PriceBasis;
  readonly deps: Pick<TaskActivityDeps, 'requests' | 'channels' | 'tasks'>;
}

/**
 * Computes the charge at the prices that were frozen when the task was created. It never exceeds what an operator has
 * approved. If a failed job was replaced, the caller pays once, and at most the hold.
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

/** True if the fault lies with MongoDB or its connection, so that the same settlement may succeed later. */
export function isOutage(error: unknown, { tasks }: Pick<TaskActivityDeps, 'tasks'>): boolean {
  return tasks.isOutage(error) || (error instanceof Error && error.name === 'LedgerUnavailableError');
}

/**
 * Returns what the upstream charges for the task, by the terms that were frozen in the attempts. A cost that cannot be
 * computed is reported as unknown.
 */
export async function upstreamCostOf(task: Task, terms: Terms): Promise<UpstreamCost> {
  const { channel = task.attempts.at(-1)?.channel ?? '', model } = task;
  return { ...costOfTask(task, await costByRules(task, terms)), channel, model };
}

async function costByRules(task: Task, { basis, deps }: Terms): Promise<Micros | undefined> {
  const { outcome, seconds, inputSeconds } = task;
  const terms = jobOf(task)?.terms;
  if (terms?.price === undefined || !isBilledByRules(task, terms)) return undefined;
  // A failed job reports no usage, so assume that it was billed for what was requested.
  const asked = withInputSeconds(defined({ durationSeconds: seconds }), inputSeconds);
  const facts = inPricedSizes(outcome?.kind === 'succeeded' ? outcome.facts : asked, terms.price);
  const isByInput = isPricedBy(terms.price, 'input_second') || needsFormula(terms.price, facts);
  if (isByInput && inputSeconds === 'unmeasured' && facts.inputSeconds === undefined) return undefined;
  try {
    const { tokensOf, ...input } = await chargeInput(task, facts, {
      basis: costBasis(basis, terms.price),
      deps,
    });
    // Upstreams bill what they report as output, even if it differs from the request.
    const bill = settle({ ...input, ...defined({ estimatedTokens: tokensOf?.(facts) }) });
    return isPriced(bill) ? bill.amount : undefined;
  } catch (error) {
    if (isOutage(error, deps)) throw error;
    return undefined;
  }
}

async function formulaOf(
  { id, channel: name, model }: Pick<Task, 'id' | 'model'> & { readonly channel: string },
  { basis, deps }: Terms,
): Promise<ChargeInput['tokensOf']> {
  const stored = await deps.requests.find(id);
  const channel = deps.channels(name);
  if (stored === undefined || channel === undefined) return undefined;
  const { request } = stored;
  const provider = taskProviderFor(channel.provider, request.kind);
  const { upstream } = channel.config.models[model] ?? {};
  return tokenFormula({ provider, request, basis, channel: name, upstream });
}
