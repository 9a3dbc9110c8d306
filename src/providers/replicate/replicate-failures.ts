import type { FailureTable } from '../shared/failure-table.ts';

/**
 * Words of refusals and of failed predictions: neither has a code that can be relied on. Source: the vendor's pages, and
 * recorded texts of 2026-09.
 */
export const replicateFailures: FailureTable = [
  // Whether the input or the result was flagged is not said.
  {
    words: /\(E005\)|flagged as sensitive|\bNSFW\b|\bsafety\b/i,
    outcome: 'rejected',
    class: 'moderation_output',
  },
  // A version that does not exist, or that the key may not use: another channel may do better.
  {
    words: /invalid version|version .*(?:does not exist|not found)|not permitted/i,
    outcome: 'unavailable',
    class: 'quota',
  },
  { words: /\(E006\)|input validation|invalid input|could not download/i, class: 'invalid_input' },
  { status: 404, outcome: 'unavailable', class: 'quota' },
  { code: /^(?:E\d{3,5}|PA)$/, class: 'internal' },
];
