import type { BillFormat } from '../provider.ts';

/**
 * The costs that the dashboard exports: sums of a day (UTC), by line item where they are grouped by it; no request is
 * named. Source: the reference of `GET /v1/organization/costs` for what the fields mean; the header of a file that the
 * dashboard exported, of which only these columns are read. Days without costs have no amount.
 */
export const openaiBill: BillFormat = {
  source: 'the export of costs in the dashboard, grouped by line item',
  columns: {
    amount: 'amount_value',
    at: 'start_time',
    model: 'line_item',
    unit: 'amount_currency',
  },
};
