/** By id, in Unix milliseconds. */
export type LastUses = ReadonlyMap<string, number>;

/** `$max` keeps a later time that another process has stored. */
export function lastUses(uses: LastUses) {
  return [...uses].map(([_id, lastUsedAt]) => ({
    updateOne: { filter: { _id }, update: { $max: { lastUsedAt } } },
  }));
}
