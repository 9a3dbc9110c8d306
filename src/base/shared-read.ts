const hangsAfterDefault = 15_000;

interface SharedRead<Read> {
  readonly result: Promise<Read>;
  readonly begunAt: number;
  endedAt?: number;
}

interface SharedReadTerms {
  readonly ms: number;
  readonly now: () => number;
  /** If a read takes longer than this, new callers start another one instead of waiting. */
  readonly hangsAfterMs?: number;
}

/**
 * Shares an expensive read: calls made while it runs, or within `ms` after it, get the same result. Failures are not
 * kept.
 */
export function createSharedRead<Read>(
  read: () => Promise<Read>,
  { ms, now, hangsAfterMs = hangsAfterDefault }: SharedReadTerms,
): () => Promise<Read> {
  let last: SharedRead<Read> | undefined;
  const isOfUse = ({ begunAt, endedAt }: SharedRead<Read>): boolean =>
    endedAt === undefined ? Math.abs(now() - begunAt) < hangsAfterMs : Math.abs(now() - endedAt) < ms;
  return () => {
    if (last !== undefined && isOfUse(last)) return last.result;
    const current: SharedRead<Read> = { result: read(), begunAt: now() };
    last = current;
    current.result.then(
      () => (current.endedAt = now()),
      () => {
        if (last === current) last = undefined;
      },
    );
    return current.result;
  };
}
