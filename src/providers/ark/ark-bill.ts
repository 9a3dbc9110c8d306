import type { BillFormat } from '../provider.ts';

/**
 * The list that ListBillDetail of Volcengine's billing answers, by day (`GroupPeriod: 1`): sums of a product's
 * configuration, by Beijing's days; no task is named. Source: the vendor's reference of ListBillDetail, and its type
 * `ListForListBillDetailOutput` in volcengine-python-sdk. Not covered: the console's own export, whose header is Chinese,
 * and BytePlus; `mapped` reads both.
 */
export const arkBill: BillFormat = {
  source:
    'the `List` of ListBillDetail by day as CSV, with its names as the header; only lines of this product',
  columns: {
    amount: 'PayableAmount',
    at: 'ExpenseDate',
    model: 'ConfigName',
    unit: 'Currency',
  },
  utcOffsetHours: 8,
};
