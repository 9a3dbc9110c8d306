import type { Caller } from '../domain/caller.ts';
import type { Catalogue } from './catalogue.ts';
import { NoChannelError } from './no-channel.ts';
import type { GenerationRequest } from '../domain/request.ts';
import type { DroppedChannel, RouteCandidate } from '../domain/routing.ts';

export interface RouteExplanation {
  /** In the order of one draw: the next request may draw another order inside a priority. */
  readonly candidates: readonly RouteCandidate[];
  readonly dropped: readonly DroppedChannel[];
  /** The error that a caller would get; absent: the request would be accepted. */
  readonly refusal?: { readonly code: string; readonly message: string };
}

/** Which channels a request would try now, and why the others would not. Throws GatewayError for a bad request. */
export function explainRoute(
  catalogue: Pick<Catalogue, 'plan'>,
  request: GenerationRequest,
  caller: Caller,
): RouteExplanation {
  try {
    const { candidates, dropped } = catalogue.plan(request, caller);
    return { candidates, dropped };
  } catch (error) {
    if (!(error instanceof NoChannelError)) throw error;
    const { code, message, dropped } = error;
    return { candidates: [], dropped, refusal: { code, message } };
  }
}
