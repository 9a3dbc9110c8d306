import { formatMicros } from './money.ts';
import type { Micros } from './money.ts';

export const entryKinds = [
  'credit',
  'hold',
  'void',
  'settle',
  'release',
  'charge_extra',
  'refund',
  'adjust',
] as const;
export type EntryKind = (typeof entryKinds)[number];

/** Kinds that hold or charge. The ledger stores their amounts without a sign. */
const taking: ReadonlySet<EntryKind> = new Set(['hold', 'settle', 'charge_extra']);

/**
 * The amount of a ledger entry as it is shown everywhere: negative if held or charged, positive if given back or
 * paid in.
 */
export function movementOf({ kind, amount }: { readonly kind: EntryKind; readonly amount: Micros }): Micros {
  return taking.has(kind) ? -amount : amount;
}

/** For people: `+0.500000`, `-0.400000`. */
export function formatMovement(amount: Micros): string {
  return `${amount > 0n ? '+' : ''}${formatMicros(amount)}`;
}
