export interface RouteCandidate {
  readonly channel: string;
  readonly credential: string;
}

type DropReason =
  | 'model_not_served'
  | 'kind_not_served'
  | 'disabled'
  | 'not_permitted'
  | 'unsupported'
  | 'no_price'
  | 'circuit_open'
  | 'no_worker'
  | 'at_concurrency_limit';

export interface DroppedChannel {
  readonly channel: string;
  readonly credential?: string;
  readonly reason: DropReason;
  readonly detail: string;
}
