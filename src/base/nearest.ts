/** The maximum length of a name. Longer names cannot be misspellings of ours. */
const nameCharactersMax = 64;

export function didYouMean(name: string, candidates: readonly string[]): string {
  const nearest = nearestOf(name, candidates);
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`;
}

/**
 * Finds the intended name for a misspelt one, ignoring case. At least one mistake is allowed, and up to a third of the
 * letters may be wrong. A comparison takes at most 64² steps.
 */
export function nearestOf(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > nameCharactersMax) return undefined;
  const asked = name.toLowerCase();
  const mistakesMax = Math.max(1, Math.floor(asked.length / 3));
  let nearest: string | undefined;
  let fewest = mistakesMax + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - asked.length) >= fewest) continue;
    const mistakes = mistakesBetween(asked, candidate.toLowerCase());
    if (mistakes >= fewest) continue;
    nearest = candidate;
    fewest = mistakes;
  }
  return nearest;
}

/** Counts the letters to insert, remove, replace, or swap with a neighbour (optimal string alignment distance). */
export function mistakesBetween(one: string, other: string): number {
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = row > 1 && one[row - 2] === other[column - 1] && one[row - 1] === other[column - 2];
      current[column] = Math.min(
        at(above, column) + 1,
        at(current, column - 1) + 1,
        at(above, column - 1) + (isSame ? 0 : 1),
        isSwapped && column > 1 ? at(before, column - 2) + 1 : Infinity,
      );
    }
    before = above;
    above = current;
  }
  return at(above, other.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
