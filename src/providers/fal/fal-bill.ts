import type { BillFormat } from '../provider.ts';

/**
 * The records of `GET https://api.fal.ai/v1/models/billing-events`, one per billed request. They contain `request_id`,
 * `endpoint_id`, `timestamp` and `cost_estimate_nano_usd`, an integer price after discounts. Source: the Billing Events
 * page of fal's Platform API reference.
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
