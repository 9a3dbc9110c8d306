import type { ResultItem } from '../task/task.ts';
import type { LinkHeaders } from './channels.ts';

/**
 * The result of trying to open a link. `refused` means that the server responded without the file. `silent` means that
 * no complete response arrived, perhaps because of our own network or a temporary outage.
 */
export type LinkEvidence = 'opens' | 'refused' | 'silent';

/** Why a link must not be delivered yet. */
export interface LinkProblem {
  readonly evidence: Exclude<LinkEvidence, 'opens'>;
  /** Does not contain the address, which may be a secret. */
  readonly message: string;
}

export interface Delivered {
  readonly items: readonly ResultItem[];
  /** Undefined if every link was opened or its file copied. */
  readonly problem?: LinkProblem;
}

export interface DeliveryOptions {
  readonly timeoutMs: number;
  /** The channel whose response contains the links. */
  readonly channel: string;
  readonly headersFor: LinkHeaders;
}

/** Copies the files behind the links to our storage. Without storage, opens each link once instead. */
export type Deliver = (
  task: string,
  items: readonly ResultItem[],
  options: DeliveryOptions,
) => Promise<Delivered>;
