import { openLinksMs } from '../base/activity-times.ts';
import { defined } from '../base/defined.ts';
import { GuardedRequestError, type OpenLink } from '../http-client/index.ts';
import type { Deliver, LinkEvidence, LinkProblem } from '../routing/delivery.ts';

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
  readonly channel: string;
  readonly url: string;
  readonly maxBytes: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs?: number;
}

/**
 * Reads the file's first bytes. Returns undefined if the file exists, and throws only if the gateway itself is at
 * fault.
 */
export async function lookAtLink(
  openLink: OpenLink,
  { channel, url, maxBytes, headers, timeoutMs = openLinksMs }: LinkLook,
): Promise<LinkProblem | undefined> {
  try {
    const { body } = await openLink(channel, { url, maxBytes, timeoutMs, ...defined({ headers }) });
    for await (const piece of body) if (piece.length > 0) return undefined;
    return { evidence: 'refused', message: 'it is empty' };
  } catch (error) {
    if (!(error instanceof GuardedRequestError)) throw error;
    const evidence = evidenceOf(error);
    return evidence === 'opens' ? undefined : { evidence, message: error.message };
  }
}

/** Returns the more serious problem. A rejection is stronger evidence than a missing response. */
export function worse(a: LinkProblem | undefined, b: LinkProblem | undefined): LinkProblem | undefined {
  return a === undefined || b?.evidence === 'refused' ? (b ?? a) : a;
}

export function createOpenLinks(openLink: OpenLink, { maxBytes }: Pick<LinkLook, 'maxBytes'>): Deliver {
  return async (_task, items, { timeoutMs, channel, headersFor }) => {
    const links = items.flatMap(({ url, lastFrameUrl, stored }) =>
      stored === undefined ? [url ?? [], lastFrameUrl ?? []].flat() : [],
    );
    const looks = links.map((url) =>
      lookAtLink(openLink, {
        channel,
        url,
        maxBytes,
        headers: headersFor(url),
        timeoutMs: Math.min(timeoutMs, openLinksMs),
      }),
    );
    const problems = await Promise.all(looks);
    return { items, ...defined({ problem: problems.reduce(worse, undefined) }) };
  };
}
