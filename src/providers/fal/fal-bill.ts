import type { BillFormat } from '../provider.ts';

/**
 * The records of `GET https://api.fal.ai/v1/models/billing-events`, one per billed request. Source: the Billing Events
 * page of fal's Platform API reference. It lists `request_id`, `endpoint_id`, `timestamp`, and
 * `cost_estimate_nano_usd`, which is the price after discounts, as an integer.
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
