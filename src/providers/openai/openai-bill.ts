import type { BillFormat } from '../provider.ts';

/**
 * The dashboard's cost export: daily totals (UTC) without request ids, by line item if grouped that way. Sources: the
 * reference for `GET /v1/organization/costs` (the meaning of the fields), and the header of an exported file. Only
 * these columns of the file are read. Days without costs have no amount.
 */
export const openaiBill: BillFormat = {
  source: 'the dashboard’s cost export, grouped by line item',
  columns: {
    amount: 'amount_value',
    at: 'start_time',
    model: 'line_item',
    unit: 'amount_currency',
  },
};
