import { defined } from '../src/domain/defined.ts';
import { needsFormula, settle } from '../src/domain/price.ts';
import type { Settlement } from '../src/domain/price.ts';
import { taskProviderFor } from '../src/routing/channels.ts';
import type { TaskActivityDeps } from './deps.ts';
import type { FinishOutcome, FinishTask } from './types.ts';

export type SucceededOutcome = Extract<FinishOutcome, { kind: 'succeeded' }>;

type Settled = Pick<FinishTask, 'task' | 'held' | 'basis'>;
type SettlementDeps = Pick<TaskActivityDeps, 'requests' | 'channels'>;

/** What a task that succeeded costs, at the prices frozen in its basis. */
export async function settlementOf(
  finish: Settled,
  outcome: SucceededOutcome,
  deps: SettlementDeps,
): Promise<Settlement> {
  const held = BigInt(finish.held);
  const input = { basis: finish.basis, channel: outcome.candidate.channel, facts: outcome.facts, held };
  if (!needsFormula(finish.basis.price.unit, outcome.facts)) return settle(input);
  const estimatedTokens = await tokensByFormula(finish, outcome, deps);
  return settle({ ...input, ...defined({ estimatedTokens }) });
}

/** The adapter's formula on the response's own duration and size. */
async function tokensByFormula(
  finish: Settled,
  outcome: SucceededOutcome,
  deps: SettlementDeps,
): Promise<bigint | undefined> {
  const { resolution, ratio, durationSeconds } = outcome.facts;
  const stored = await deps.requests.find(finish.task);
  const channel = deps.channels(outcome.candidate.channel);
  if (stored === undefined || channel === undefined) return undefined;
  if (resolution === undefined || ratio === undefined || durationSeconds === undefined) return undefined;
  const provider = taskProviderFor(channel.provider, stored.request.kind);
  const upstream = channel.config.models[outcome.model]?.upstream;
  return provider?.estimateTokens?.(stored.request, { resolution, ratio, durationSeconds }, upstream);
}
