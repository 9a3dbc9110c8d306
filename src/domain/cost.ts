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
