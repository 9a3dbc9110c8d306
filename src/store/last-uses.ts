/** Maps ids to times in Unix milliseconds. */
export type LastUses = ReadonlyMap<string, number>;

/** Uses `$max`, so a later time that another process has stored is kept. */
export function lastUses(uses: LastUses) {
  return [...uses].map(([_id, lastUsedAt]) => ({
    updateOne: { filter: { _id }, update: { $max: { lastUsedAt } } },
  }));
}
