import type { FailureTable } from '../shared/failure-table.ts';

/**
 * Neither rejected requests nor failed predictions have reliable codes, so messages are matched. Sources: the vendor's
 * pages, and messages recorded in 2026-09.
 */
export const replicateFailures: FailureTable = [
  // The vendor does not report whether the input or the result was flagged.
  {
    words: /\(E005\)|flagged as sensitive|\bNSFW\b|\bsafety\b/i,
    outcome: 'rejected',
    class: 'moderation_output',
  },
  // The version does not exist, or the key does not give access to it. Another channel may succeed.
  {
    words: /invalid version|version .*(?:does not exist|not found)|not permitted/i,
    outcome: 'unavailable',
    class: 'quota',
  },
  { words: /\(E006\)|input validation|invalid input|could not download/i, class: 'invalid_input' },
  { status: 404, outcome: 'unavailable', class: 'quota' },
  { code: /^(?:E\d{3,5}|PA)$/, class: 'internal' },
];
