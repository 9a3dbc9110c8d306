import type { Channels } from '../routing/channels.ts';
import type { RoutePlan } from '../routing/catalogue.ts';
import type { ImageRequest } from '../domain/request.ts';
import { synchronousIssue } from '../routing/image-issue.ts';

export interface PinnedPlan {
  readonly mode: 'synchronous' | 'task';
  readonly plan: RoutePlan;
}

export interface PinContext {
  readonly channels: Channels;
  readonly request: ImageRequest;
  /** The request may be repeated and must then take the same route: the draw by weight does not decide. */
  readonly keyed: boolean;
}

/**
 * The part of the plan that one request uses: only channels that answer synchronously, or only those that create a
 * task.
 */
export function pinPlan(plan: RoutePlan, context: PinContext): PinnedPlan {
  const modes = new Map(plan.candidates.map(({ channel }) => [channel, modeOf(channel, context)]));
  const [first] = context.keyed ? [...modes.keys()].sort(byRank(context.channels)) : modes.keys();
  const mode = modes.get(first ?? '') ?? 'synchronous';
  return {
    mode,
    plan: { ...plan, candidates: plan.candidates.filter(({ channel }) => modes.get(channel) === mode) },
  };
}

/** As in the catalogue: a channel that can do both answers synchronously. */
function modeOf(id: string, { channels, request }: PinContext): PinnedPlan['mode'] {
  const channel = channels(id);
  const synchronous = channel?.provider.image;
  if (channel === undefined || synchronous === undefined) return 'task';
  const served = channel.config.models[request.model] ?? { upstream: request.model };
  if (channel.provider.imageTask === undefined) return 'synchronous';
  return synchronousIssue(synchronous, request, served) === undefined ? 'synchronous' : 'task';
}

function byRank(channels: Channels) {
  const priority = (id: string): number => channels(id)?.config.priority ?? 0;
  return (a: string, b: string): number => priority(b) - priority(a) || (a < b ? -1 : 1);
}
