import type { Buyer } from '../access/caller.ts';
import type { Catalogue } from './catalogue.ts';
import { NoChannelError } from './no-channel.ts';
import { partsAgainst, type ChannelHealth } from '../health/channel-health.ts';
import { defined } from '../base/defined.ts';
import type { FailureClass } from '../errors/failure.ts';
import type { AskedRequest } from '../models/request.ts';
import type { DroppedChannel, RouteCandidate } from '../task/candidates.ts';

export interface RouteExplanation {
  readonly candidates: readonly ExplainedCandidate[];
  /** Excludes channels that the request would wait for. */
  readonly dropped: readonly DroppedChannel[];
  readonly health: readonly ChannelHealth[];
  /** Undefined if the model has no fallback. A job that fails upstream then fails the task. */
  readonly fallback?: FallbackExplanation;
  readonly refusal?: { readonly code: string; readonly message: string };
}

/**
 * `waits` is true if a task would have to wait because the circuit is open or no worker can reach the channel. `detail`
 * describes the problem.
 */
export interface ExplainedCandidate extends RouteCandidate {
  readonly waits: boolean;
  readonly detail: string;
}

export interface FallbackExplanation {
  readonly channels: readonly string[];
  readonly candidates: readonly RouteCandidate[];
  readonly on: readonly FailureClass[];
  /** Whether content that one vendor rejected may be sent to another vendor. */
  readonly allow_moderation: boolean;
}

/**
 * Explains which channels a request would use now, in which order, and why the others would be skipped.
 * @throws GatewayError for an invalid request
 */
export function explainRoute(
  catalogue: Pick<Catalogue, 'plan' | 'model'>,
  { request, buyer }: { readonly request: AskedRequest; readonly buyer: Buyer },
  known: readonly ChannelHealth[],
): RouteExplanation {
  const named = catalogue.model(request.model, buyer).fallback;
  const fallbackTo = (candidates: readonly RouteCandidate[]): Pick<RouteExplanation, 'fallback'> =>
    defined({ fallback: named === undefined ? undefined : { ...named, candidates } });
  try {
    const { candidates, dropped, fallback } = catalogue.plan(request, buyer);
    return {
      ...withHealth({ model: request.model, candidates, dropped }, known),
      ...fallbackTo(fallback?.candidates ?? []),
    };
  } catch (error) {
    if (!(error instanceof NoChannelError)) throw error;
    const { code, message, dropped } = error;
    const route = withHealth({ model: request.model, candidates: [], dropped }, known);
    return { ...route, ...fallbackTo([]), refusal: { code, message } };
  }
}

const outOfService: ReadonlySet<DroppedChannel['reason']> = new Set([
  'disabled',
  'circuit_open',
  'no_worker',
]);

interface Route {
  readonly model: string;
  readonly candidates: readonly RouteCandidate[];
  readonly dropped: readonly DroppedChannel[];
}

function withHealth(
  { model, candidates, dropped }: Route,
  known: readonly ChannelHealth[],
): Pick<RouteExplanation, 'candidates' | 'dropped' | 'health'> {
  const healthAt = (channel: string) => known.find((health) => health.channel === channel);
  const isOf = (candidate: RouteCandidate) => (drop: DroppedChannel) =>
    drop.channel === candidate.channel && drop.credential === candidate.credential;
  const against = ({ channel, credential }: RouteCandidate) => {
    const health = healthAt(channel);
    return health === undefined ? [] : partsAgainst(health, { credential, model });
  };
  const textOf = (candidate: RouteCandidate) =>
    against(candidate)
      .map(({ text }) => text)
      .join(' ');
  // The catalogue does not know which upstreams the workers cannot reach, so look at the health of the channels.
  const isUnreached = (candidate: RouteCandidate) =>
    against(candidate).some(({ scope, state }) => scope === 'host' && state !== 'partly_ill');
  const left = dropped.filter((drop) => !candidates.some((candidate) => isOf(candidate)(drop)));
  const channels = new Set([
    ...candidates.map(({ channel }) => channel),
    ...left.flatMap(({ channel, reason }) => (outOfService.has(reason) ? channel : [])),
  ]);
  return {
    candidates: candidates.map((candidate) => ({
      ...candidate,
      waits: dropped.some(isOf(candidate)) || isUnreached(candidate),
      detail: textOf(candidate),
    })),
    dropped: left.map((drop) => {
      if (!outOfService.has(drop.reason)) return drop;
      const { channel, credential } = drop;
      const text = credential === undefined ? healthAt(channel)?.text : textOf({ channel, credential });
      return { ...drop, detail: text || drop.detail };
    }),
    health: known.filter(({ channel, state }) => channels.has(channel) && state !== 'serving'),
  };
}
