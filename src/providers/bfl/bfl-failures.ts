import type { FailureTable } from '../shared/failure-table.ts';

/** Codes and words of refusals, and the status words of failed jobs. Source: the vendor's page of errors, 2026-10. */
export const bflFailures: FailureTable = [
  { code: /^Request Moderated$/i, class: 'moderation_input' },
  { code: /^Content Moderated$/i, class: 'moderation_output' },
  { code: /^(?:Error|Failed)$/i, class: 'internal' },
  { code: /^insufficient_credits$/, outcome: 'unavailable', class: 'quota' },
  { words: /insufficient credits/i, outcome: 'unavailable', class: 'quota' },
  { words: /not authenticated/i, outcome: 'unavailable', class: 'quota' },
  // A route that does not exist is a model that the account does not have.
  { status: 404, outcome: 'unavailable', class: 'quota' },
  // Too many tasks in flight.
  { code: /^rate_limit_exceeded$/, outcome: 'throttled', class: 'capacity' },
];
