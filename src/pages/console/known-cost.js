/**
 * Returns the cost or the margin of a row, or null if nothing is known about its cost. Zero would look like a task that
 * the vendor renders for free.
 *
 * @param {{ cost: string, cost_unknown: number, margin: string }} row
 * @param {'cost' | 'margin'} name
 */
export function knownAmount(row, name) {
  return row.cost_unknown > 0 && Number(row.cost) === 0 ? null : row[name];
}
