import { billResults, type BillResult } from '../money/bill.ts';
import { addAmounts } from '../money/decimal.ts';
import { BillError } from './bill-error.ts';
import { isInOrder, type ReportRow } from './rows.ts';

export interface Total {
  readonly result: BillResult;
  readonly unit: string | null;
  readonly rows: number;
  readonly billed: string;
  readonly expected: string;
}

const totalsMax = 500;

export function createTotals() {
  const totals = new Map<string, Total>();

  return {
    add({
      result,
      unit,
      billed,
      expected,
    }: Pick<ReportRow, 'result' | 'unit' | 'billed' | 'expected'>): void {
      const key = JSON.stringify([result, unit]);
      const before = totals.get(key) ?? { result, unit, rows: 0, billed: '0', expected: '0' };
      if (totals.size === totalsMax)
        throw new BillError('The bill has too many units: is `unit` the right column?');
      totals.set(key, {
        ...before,
        rows: before.rows + 1,
        billed: addAmounts(before.billed, billed ?? '0'),
        expected: addAmounts(before.expected, expected ?? '0'),
      });
    },
    list: (): Total[] =>
      [...totals.values()].toSorted(
        (a, b) =>
          billResults.indexOf(a.result) - billResults.indexOf(b.result) ||
          ((a.unit ?? '') < (b.unit ?? '') ? -1 : 1),
      ),
    isInOrder: (): boolean => [...totals.values()].every(({ result }) => isInOrder(result)),
  };
}
