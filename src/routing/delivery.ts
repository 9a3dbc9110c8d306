import type { ResultItem } from '../task/task.ts';
import type { LinkHeaders } from './channels.ts';

/**
 * `refused` means that the server responded without the file. `silent` means that no complete response arrived, perhaps
 * because of a temporary outage or our own network.
 */
export type LinkEvidence = 'opens' | 'refused' | 'silent';

export interface LinkProblem {
  readonly evidence: Exclude<LinkEvidence, 'opens'>;
  /** Must not contain the link's URL, which may be secret. */
  readonly message: string;
}

export interface Delivered {
  readonly items: readonly ResultItem[];
  readonly problem?: LinkProblem;
}

export interface DeliveryOptions {
  readonly timeoutMs: number;
  readonly channel: string;
  readonly headersFor: LinkHeaders;
}

export type Deliver = (
  task: string,
  items: readonly ResultItem[],
  options: DeliveryOptions,
) => Promise<Delivered>;
