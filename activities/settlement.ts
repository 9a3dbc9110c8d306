import { defined } from '../src/domain/defined.ts';
import { needsFormula, settle } from '../src/domain/price.ts';
import type { PriceBasis, Settlement } from '../src/domain/price.ts';
import type { Task } from '../src/domain/task-record.ts';
import type { SettleFacts } from '../src/domain/task.ts';
import { taskProviderFor } from '../src/routing/channels.ts';
import type { TaskActivityDeps } from './deps.ts';

type SettlementDeps = Pick<TaskActivityDeps, 'requests' | 'channels'>;

interface Terms {
  readonly basis: PriceBasis;
  readonly deps: SettlementDeps;
}

/** What a task that succeeded with these facts costs, at the prices frozen in its basis. */
export async function settlementOf(
  task: Task,
  facts: SettleFacts,
  { basis, deps }: Terms,
): Promise<Settlement> {
  const { channel = task.plan.candidates[0]?.channel ?? '' } = task;
  const input = { basis, channel, facts, held: task.hold };
  if (!needsFormula(basis.price.unit, facts)) return settle(input);
  const estimatedTokens = await tokensByFormula({ ...task, channel }, facts, deps);
  return settle({ ...input, ...defined({ estimatedTokens }) });
}

/** The adapter's formula on the response's own duration and size. */
async function tokensByFormula(
  { id, channel: name, model }: Pick<Task, 'id' | 'model'> & { readonly channel: string },
  { resolution, ratio, durationSeconds }: SettleFacts,
  deps: SettlementDeps,
): Promise<bigint | undefined> {
  const stored = await deps.requests.find(id);
  const channel = deps.channels(name);
  if (stored === undefined || channel === undefined) return undefined;
  if (resolution === undefined || ratio === undefined || durationSeconds === undefined) return undefined;
  const provider = taskProviderFor(channel.provider, stored.request.kind);
  const upstream = channel.config.models[model]?.upstream;
  return provider?.estimateTokens?.(stored.request, { resolution, ratio, durationSeconds }, upstream);
}
