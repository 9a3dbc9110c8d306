import type { Micros } from '../money/money.ts';

/** An amount is null if it depends on values that the operator has yet to enter. */
export interface MoneyPreview<Amount = Micros> {
  readonly charged: Amount | null;
  readonly released: Amount | null;
  readonly refunded: Amount;
  readonly unpaidJobs: number;
}

export function mapMoney<From, To>(
  { charged, released, refunded, unpaidJobs: jobs }: MoneyPreview<From>,
  present: (amount: From) => To,
): MoneyPreview<To> {
  const known = (amount: From | null): To | null => (amount === null ? null : present(amount));
  return {
    charged: known(charged),
    released: known(released),
    refunded: present(refunded),
    unpaidJobs: jobs,
  };
}

/** All amounts are null for an operator without the `amounts` role. */
export type ShownMoney = Omit<MoneyPreview<string>, 'refunded'> & { readonly refunded: string | null };

export function moneyInWords({ charged, released, refunded, unpaidJobs: jobs }: ShownMoney): string {
  if (refunded === null) return 'only operators with the amounts role see amounts';
  if (charged === null || released === null) return 'charges according to the facts that you enter';
  const which = jobs === 1 ? 'a job' : `${jobs} jobs`;
  const bill = jobs === 0 ? '' : `; the upstream may bill ${which} that no charge covers`;
  const parts = [
    isZero(charged) ? '' : `charges ${charged}`,
    isZero(released) ? '' : `releases ${released}`,
    isZero(refunded) ? '' : `gives back ${refunded}`,
  ].filter((part) => part !== '');
  return `${parts.length === 0 ? 'moves no money' : parts.join(', ')}${bill}`;
}

function isZero(amount: string): boolean {
  return /^0\.0+(?: |$)/.test(amount);
}
