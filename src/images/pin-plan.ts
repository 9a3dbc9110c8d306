import type { Channels } from '../routing/channels.ts';
import type { RoutePlan } from '../routing/catalogue.ts';

export interface PinnedPlan {
  readonly mode: 'synchronous' | 'task';
  readonly plan: RoutePlan;
}

export interface PinContext {
  readonly channels: Channels;
  /** A repeat of a request with an Idempotency-Key must use the same route, so its channel is not chosen at random. */
  readonly keyed: boolean;
  readonly asTask: boolean;
}

/**
 * Selects either the channels that respond synchronously or those that create a task. A request for a task can use
 * both.
 */
export function pinPlan(plan: RoutePlan, context: PinContext): PinnedPlan {
  if (context.asTask) return { mode: 'task', plan };
  const { candidates, serving } = plan;
  const modeOf = (id: string | undefined): PinnedPlan['mode'] =>
    serving.get(id ?? '')?.canWait === true ? 'task' : 'synchronous';
  const ids = candidates.map(({ channel }) => channel);
  const [first] = context.keyed ? ids.sort(byRank(context.channels)) : ids;
  const mode = modeOf(first);
  return {
    mode,
    plan: { ...plan, candidates: candidates.filter(({ channel }) => modeOf(channel) === mode) },
  };
}

function byRank(channels: Channels) {
  const priority = (id: string): number => channels(id)?.config.priority ?? 0;
  return (a: string, b: string): number => priority(b) - priority(a) || (a < b ? -1 : 1);
}
