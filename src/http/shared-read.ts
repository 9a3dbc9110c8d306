/**
 * A read that costs something, done once in a while however many ask: everybody within `ms` is answered by the same one.
 * A failure is not kept.
 */
export function createSharedRead<Read>(
  read: () => Promise<Read>,
  { ms, now }: { readonly ms: number; readonly now: () => number },
): () => Promise<Read> {
  let last: { readonly at: number; readonly result: Promise<Read> } | undefined;
  return () => {
    if (last !== undefined && Math.abs(now() - last.at) < ms) return last.result;
    const current = { at: now(), result: read() };
    last = current;
    current.result.catch(() => {
      if (last === current) last = undefined;
    });
    return current.result;
  };
}
