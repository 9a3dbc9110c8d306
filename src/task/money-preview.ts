import type { Micros } from '../money/money.ts';

/** What an act does to the money of the task. Null if the facts that are given with the act decide it. */
export interface MoneyPreview<Amount = Micros> {
  readonly charged: Amount | null;
  readonly released: Amount | null;
  readonly refunded: Amount;
  /** How many jobs the upstream may bill although no charge pays for them. */
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

/** The preview in words. The amounts are already formatted. */
export function moneyInWords({
  charged,
  released,
  refunded,
  unpaidJobs: jobs,
}: MoneyPreview<string>): string {
  if (charged === null || released === null) return 'charges by the facts that you give';
  const which = jobs === 1 ? 'a job' : `${jobs} jobs`;
  const bill = jobs === 0 ? '' : `; the upstream may bill ${which} that nobody pays for`;
  const parts = [
    isZero(charged) ? '' : `charges ${charged}`,
    isZero(released) ? '' : `releases ${released}`,
    isZero(refunded) ? '' : `gives back ${refunded}`,
  ].filter((part) => part !== '');
  return `${parts.length === 0 ? 'changes nothing about the money' : parts.join(', ')}${bill}`;
}

function isZero(amount: string): boolean {
  return /^0\.0+(?: |$)/.test(amount);
}
