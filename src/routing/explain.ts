import type { Caller } from '../access/caller.ts';
import type { Catalogue } from './catalogue.ts';
import { NoChannelError } from './no-channel.ts';
import { defined } from '../base/defined.ts';
import type { FailureClass } from '../errors/failure.ts';
import type { AskedRequest } from '../models/request.ts';
import type { DroppedChannel, RouteCandidate } from '../task/candidates.ts';

export interface RouteExplanation {
  /** In the order of one draw: the next request may draw another order inside a priority. */
  readonly candidates: readonly RouteCandidate[];
  readonly dropped: readonly DroppedChannel[];
  /** Absent: the model names none, and a job that failed at its upstream is the task's end. */
  readonly fallback?: FallbackExplanation;
  /** The error that a caller would get; absent: the request would be accepted. */
  readonly refusal?: { readonly code: string; readonly message: string };
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
  request: AskedRequest,
  caller: Caller,
): RouteExplanation {
  const named = catalogue.model(request.model, caller).fallback;
  const fallbackTo = (candidates: readonly RouteCandidate[]): Pick<RouteExplanation, 'fallback'> =>
    defined({ fallback: named === undefined ? undefined : { ...named, candidates } });
  try {
    const { candidates, dropped, fallback } = catalogue.plan(request, caller);
    return { candidates, dropped, ...fallbackTo(fallback?.candidates ?? []) };
  } catch (error) {
    if (!(error instanceof NoChannelError)) throw error;
    const { code, message, dropped } = error;
    return { candidates: [], dropped, ...fallbackTo([]), refusal: { code, message } };
  }
}
