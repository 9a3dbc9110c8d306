/**
 * What a job cost the operator, as reported by the vendor. A fact for the record: callers are charged by our own
 * prices.
 */
export interface Cost {
  /** An exact decimal number, never a float: `0.035`, `12`. */
  readonly amount: string;
  /** A currency code, or the vendor's own unit: `USD`, `credits`. */
  readonly unit: string;
}

/** What several calls cost together; undefined unless each of them reported it, and all in the same unit. */
export function sumCosts(costs: readonly (Cost | undefined)[]): Cost | undefined {
  const [first, ...others] = costs;
  if (first === undefined) return undefined;
  let { amount } = first;
  for (const other of others) {
    if (other?.unit !== first.unit) return undefined;
    amount = addDecimals(amount, other.amount);
  }
  return { amount, unit: first.unit };
}

/** Exact: no float touches what is paid. */
function addDecimals(one: string, other: string): string {
  const places = Math.max(...[one, other].map((text) => (text.split('.')[1] ?? '').length));
  const scaled = (text: string): bigint => {
    const [whole = '0', fraction = ''] = text.split('.');
    return BigInt(whole + fraction.padEnd(places, '0'));
  };
  const digits = (scaled(one) + scaled(other)).toString().padStart(places + 1, '0');
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}
