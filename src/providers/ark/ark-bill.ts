import type { BillFormat } from '../provider.ts';

/**
 * The CSV file of Volcengine's ListBillDetail billing call, by day (`GroupPeriod: 1`). It contains daily totals
 * (Beijing time) per product configuration, but no task ids. Sources: the vendor's ListBillDetail reference, and the
 * type `ListForListBillDetailOutput` in volcengine-python-sdk. For BytePlus bills and the console's own export, which
 * has a Chinese header, use `mapped`.
 */
export const arkBill: BillFormat = {
  source:
    'the daily `List` of ListBillDetail as CSV, with its field names as the header and only the lines of this product',
  columns: {
    amount: 'PayableAmount',
    at: 'ExpenseDate',
    model: 'ConfigName',
    unit: 'Currency',
  },
  utcOffsetHours: 8,
};
