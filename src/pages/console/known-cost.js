/**
 * Returns null if the cost is entirely unknown. Showing 0 would suggest that the vendor charged nothing.
 *
 * @param {{ cost: string, cost_unknown: number, margin: string }} row
 * @param {'cost' | 'margin'} name
 */
export function knownAmount(row, name) {
  return row.cost_unknown > 0 && Number(row.cost) === 0 ? null : row[name];
}
