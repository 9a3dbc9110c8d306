import type { BillFormat } from '../provider.ts';

/**
 * The dashboard's cost export has daily totals (UTC) without request ids, by line item if grouped that way. Days
 * without costs have no amount. Sources: the reference for `GET /v1/organization/costs` (the meaning of the fields),
 * and the header of an exported file, of which only these columns are read.
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
