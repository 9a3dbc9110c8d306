import type { Channels } from '../routing/channels.ts';
import type { RoutePlan } from '../routing/catalogue.ts';

export interface PinnedPlan {
  readonly mode: 'synchronous' | 'task';
  readonly plan: RoutePlan;
}

export interface PinContext {
  readonly channels: Channels;
  /** The request may be repeated and must then take the same route: the draw by weight does not decide. */
  readonly keyed: boolean;
  /** The caller does not wait: any channel serves, since a worker asks it. */
  readonly asTask: boolean;
}

/**
 * The part of the plan that one request uses: only channels that answer synchronously, or only those that create a
 * task, unless a task is what was asked for.
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
