import type { ResultItem } from '../task/task.ts';
import type { LinkHeaders } from './channels.ts';

/**
 * What a try to open a link says about it. `refused`: its server answers and does not give the file. `silent`: no complete
 * answer came, which may be the fault of our own network or pass soon.
 */
export type LinkEvidence = 'opens' | 'refused' | 'silent';

/** Why a link must not be delivered yet. */
export interface LinkProblem {
  readonly evidence: Exclude<LinkEvidence, 'opens'>;
  /** Without the address, which may be a secret. */
  readonly message: string;
}

export interface Delivered {
  readonly items: readonly ResultItem[];
  /** Undefined: every link has been opened or copied. */
  readonly problem?: LinkProblem;
}

export interface DeliveryOptions {
  readonly timeoutMs: number;
  /** The channel whose answer has the links. */
  readonly channel: string;
  readonly headersFor: LinkHeaders;
}

/** Copies what the items link to into our storage or, where there is none, opens each link once. */
export type Deliver = (
  task: string,
  items: readonly ResultItem[],
  options: DeliveryOptions,
) => Promise<Delivered>;
