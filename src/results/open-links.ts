import { defined } from '../base/defined.ts';
import type { ResultItem } from '../task/task.ts';
import { GuardedRequestError } from '../http-client/index.ts';
import type { GuardedClient } from '../http-client/index.ts';
import type { LinkHeaders } from '../routing/channels.ts';

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
  readonly headersFor: LinkHeaders;
}

/** Copies what the items link to into our storage or, where there is none, opens each link once. */
export type Deliver = (
  task: string,
  items: readonly ResultItem[],
  options: DeliveryOptions,
) => Promise<Delivered>;

/** These answers say "not now". Every other answer that is not the file is a refusal. */
const passingStatuses = new Set([408, 425, 429]);

const refusals = new Set(['address_refused', 'invalid_request', 'too_many_redirects']);

export function evidenceOf(error: unknown): LinkEvidence {
  if (!(error instanceof GuardedRequestError)) return 'opens';
  const { code, status = 0 } = error;
  if (code === 'answer_too_large' || code === 'encoded_answer') return 'opens';
  if (code === 'bad_status') return passingStatuses.has(status) || status >= 500 ? 'silent' : 'refused';
  return refusals.has(code) ? 'refused' : 'silent';
}

export interface LinkLook {
  readonly url: string;
  readonly maxBytes: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs?: number;
}

const lookTimeoutMs = 15_000;

/** Reads the first bytes. Undefined: there is a file. Throws for faults of our own alone. */
export async function lookAtLink(
  { openMedia }: Pick<GuardedClient, 'openMedia'>,
  { url, maxBytes, headers, timeoutMs = lookTimeoutMs }: LinkLook,
): Promise<LinkProblem | undefined> {
  try {
    const { body } = await openMedia({ url, maxBytes, timeoutMs, ...defined({ headers }) });
    for await (const piece of body) if (piece.length > 0) return undefined;
    return { evidence: 'refused', message: 'it is empty' };
  } catch (error) {
    if (!(error instanceof GuardedRequestError)) throw error;
    const evidence = evidenceOf(error);
    return evidence === 'opens' ? undefined : { evidence, message: error.message };
  }
}

/** A refusal is the stronger evidence. */
export function worse(a: LinkProblem | undefined, b: LinkProblem | undefined): LinkProblem | undefined {
  return a === undefined || b?.evidence === 'refused' ? (b ?? a) : a;
}

/** Where nothing is kept. */
export function createOpenLinks(
  client: Pick<GuardedClient, 'openMedia'>,
  { maxBytes }: Pick<LinkLook, 'maxBytes'>,
): Deliver {
  return async (_task, items, { timeoutMs, headersFor }) => {
    const links = items.flatMap(({ url, lastFrameUrl, stored }) =>
      stored === undefined ? [url ?? [], lastFrameUrl ?? []].flat() : [],
    );
    const looks = links.map((url) =>
      lookAtLink(client, {
        url,
        maxBytes,
        headers: headersFor(url),
        timeoutMs: Math.min(timeoutMs, lookTimeoutMs),
      }),
    );
    const problems = await Promise.all(looks);
    return { items, ...defined({ problem: problems.reduce(worse, undefined) }) };
  };
}
