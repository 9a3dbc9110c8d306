import type { FailureTable } from '../shared/failure-table.ts';

/** Covers rejected requests and failed jobs. Source: the vendor's errors page, 2026-10. */
export const bflFailures: FailureTable = [
  { code: /^Request Moderated$/i, class: 'moderation_input' },
  { code: /^Content Moderated$/i, class: 'moderation_output' },
  { code: /^(?:Error|Failed)$/i, class: 'internal' },
  { code: /^insufficient_credits$/, outcome: 'unavailable', class: 'quota' },
  { words: /insufficient credits/i, outcome: 'unavailable', class: 'quota' },
  { words: /not authenticated/i, outcome: 'unavailable', class: 'quota' },
  // The vendor also responds with 404 if the account lacks access to a model.
  { status: 404, outcome: 'unavailable', class: 'quota' },
  { code: /^rate_limit_exceeded$/, outcome: 'throttled', class: 'capacity' },
];
