export function firstBytes(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const all = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const first = new Uint8Array(Math.min(bytes, all));
  let at = 0;
  for (const piece of pieces) {
    if (at === first.length) break;
    const part = piece.subarray(0, first.length - at);
    first.set(part, at);
    at += part.length;
  }
  return first;
}
