import type { BillFormat } from '../provider.ts';

/**
 * The records of `GET https://api.fal.ai/v1/models/billing-events`, one for each request that is billed. Source: fal's
 * reference of the Platform APIs, Billing Events: `request_id`, `endpoint_id`, `timestamp`, and `cost_estimate_nano_usd`,
 * what is paid after discounts as a whole number.
 */
export const falBill: BillFormat = {
  source:
    'the `billing_events` of https://api.fal.ai/v1/models/billing-events as CSV, with their names as its header',
  columns: {
    job: 'request_id',
    amount: 'cost_estimate_nano_usd',
    at: 'timestamp',
    model: 'endpoint_id',
  },
  unit: 'USD',
  places: 9,
};
