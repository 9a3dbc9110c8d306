/**
 * A read that costs something, done once in a while however many ask: who comes while it runs, or within `ms` of its end,
 * is answered by it. A failure is not kept.
 */
export function createSharedRead<Read>(
  read: () => Promise<Read>,
  { ms, now }: { readonly ms: number; readonly now: () => number },
): () => Promise<Read> {
  let last: Promise<Read> | undefined;
  let endedAt: number | undefined;
  return () => {
    if (last !== undefined && (endedAt === undefined || Math.abs(now() - endedAt) < ms)) return last;
    endedAt = undefined;
    last = read();
    last.then(
      () => (endedAt = now()),
      () => (last = undefined),
    );
    return last;
  };
}
