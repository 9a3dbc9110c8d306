import { formatMicros, type Micros } from './money.ts';

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

/** Ledger amounts are unsigned. These kinds reduce the balance. */
const taking: ReadonlySet<EntryKind> = new Set(['hold', 'settle', 'charge_extra']);

export function movementOf({ kind, amount }: { readonly kind: EntryKind; readonly amount: Micros }): Micros {
  return taking.has(kind) ? -amount : amount;
}

export function formatMovement(amount: Micros): string {
  return `${amount > 0n ? '+' : ''}${formatMicros(amount)}`;
}
