import type { FailureTable } from '../shared/failure-table.ts';

/** Source: the vendor's error guide. Some account errors have status 400 or 429. */
export const openaiFailures: FailureTable = [
  {
    code: /^(?:insufficient_quota|billing_hard_limit_reached|billing_not_active|account_deactivated|invalid_api_key|model_not_found)$/,
    outcome: 'unavailable',
    class: 'quota',
  },
  {
    code: /^(?:moderation_blocked|content_policy_violation)$/,
    words: /output|generated/i,
    class: 'moderation_output',
  },
  { code: /^(?:moderation_blocked|content_policy_violation)$/, class: 'moderation_input' },
  { code: /^rate_limit_exceeded$/, class: 'capacity' },
  { code: /^server_error$/, class: 'internal' },
];
