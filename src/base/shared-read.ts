const hangsAfterDefault = 15_000;

interface SharedRead<Read> {
  readonly result: Promise<Read>;
  readonly begunAt: number;
  endedAt?: number;
}

interface SharedReadTerms {
  readonly ms: number;
  readonly now: () => number;
  /** A read that has not ended by then is not waited for by others any more. */
  readonly hangsAfterMs?: number;
}

/**
 * A read that costs something, done once in a while however many ask: who comes while it runs, or within `ms` of its end,
 * is answered by it. A failure is not kept.
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
