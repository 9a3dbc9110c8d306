import type { Caller } from '../access/caller.ts';
import type { Catalogue } from './catalogue.ts';
import { NoChannelError } from './no-channel.ts';
import { partsAgainst } from '../health/channel-health.ts';
import type { ChannelHealth } from '../health/channel-health.ts';
import { defined } from '../base/defined.ts';
import type { FailureClass } from '../errors/failure.ts';
import type { AskedRequest } from '../models/request.ts';
import type { DroppedChannel, RouteCandidate } from '../task/candidates.ts';

export interface RouteExplanation {
  /** In the order of one draw: the next request may draw another order inside a priority. */
  readonly candidates: readonly ExplainedCandidate[];
  /** The dropped channels, without those that the request would wait for. */
  readonly dropped: readonly DroppedChannel[];
  /** The channels of the model whose health is not `serving`. */
  readonly health: readonly ChannelHealth[];
  /** Absent: the model names none, and a job that failed at its upstream is the task's end. */
  readonly fallback?: FallbackExplanation;
  /** The error that a caller would get; absent: the request would be accepted. */
  readonly refusal?: { readonly code: string; readonly message: string };
}

/** `waits`: a task would wait, as the circuit is open or no worker reaches it. `detail`: why it is not well. */
export interface ExplainedCandidate extends RouteCandidate {
  readonly waits: boolean;
  readonly detail: string;
}

/** Where another job is submitted when one has failed at its upstream, and costs nothing there. */
export interface FallbackExplanation {
  /** Those that the model names, in their order. */
  readonly channels: readonly string[];
  /** Those of them that this request could go to; empty: its failed job is the task's end all the same. */
  readonly candidates: readonly RouteCandidate[];
  /** Classes of failures after which it happens. */
  readonly on: readonly FailureClass[];
  /** Whether content that one vendor refused may go to another one. */
  readonly allow_moderation: boolean;
}

/** Which channels a request would try now, and why the others would not. Throws GatewayError for a bad request. */
export function explainRoute(
  catalogue: Pick<Catalogue, 'plan' | 'model'>,
  { request, caller }: { readonly request: AskedRequest; readonly caller: Caller },
  known: readonly ChannelHealth[],
): RouteExplanation {
  const named = catalogue.model(request.model, caller).fallback;
  const fallbackTo = (candidates: readonly RouteCandidate[]): Pick<RouteExplanation, 'fallback'> =>
    defined({ fallback: named === undefined ? undefined : { ...named, candidates } });
  try {
    const { candidates, dropped, fallback } = catalogue.plan(request, caller);
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

/** Adds the health of each channel, in the words that all pages use. */
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
  // The catalogue does not know which upstreams the workers cannot reach.
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
