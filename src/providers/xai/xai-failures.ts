import type { FailureTable } from '../shared/failure-table.ts';

/**
 * The vendor also uses 400 for an invalid key and an unknown model, and its `code` is a prose sentence, so match the
 * message first. Sources: recorded responses, the vendor's pages, 2026-10, and what clients recorded, 2026-11.
 */
export const xaiFailures: FailureTable = [
  { words: /api key/i, outcome: 'unavailable', class: 'quota' },
  { words: /model not found/i, outcome: 'unavailable', class: 'quota' },
  // The result was rendered before it was rejected.
  {
    words: /^generated (?:image|video) rejected/i,
    outcome: 'rejected',
    class: 'moderation_output',
  },
  { code: /^imagine:content-moderated$/, outcome: 'rejected', class: 'moderation_input' },
  // We have not verified whether moderation can cause a 403. The message would be the same.
  {
    words: /content (?:violates|policy)|usage guidelines|moderat/i,
    outcome: 'rejected',
    class: 'moderation_input',
  },
  { words: /spending limit|credits|billing/i, outcome: 'unavailable', class: 'quota' },
  { code: /does not have permission|unauthenticated/i, outcome: 'unavailable', class: 'quota' },
  { code: /resource has been exhausted|rate_limit/i, outcome: 'throttled', class: 'capacity' },
  { words: /at capacity|overloaded/i, outcome: 'throttled', class: 'capacity' },
  { code: /invalid[ _-]argument|not_supported/i, outcome: 'rejected', class: 'invalid_input' },
  // A create request used a nonexistent path or model.
  { status: 404, outcome: 'unavailable', class: 'quota' },
  { status: 422, outcome: 'rejected', class: 'invalid_input' },
];
