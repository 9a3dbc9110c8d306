/** When keys, tokens or sessions were last used, by id, in Unix milliseconds. A later stored time is kept. */
export type LastUses = ReadonlyMap<string, number>;

/** Returns the writes for one unordered command. */
export function lastUses(uses: LastUses) {
  return [...uses].map(([_id, lastUsedAt]) => ({
    updateOne: { filter: { _id }, update: { $max: { lastUsedAt } } },
  }));
}
