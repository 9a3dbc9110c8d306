import type { FailureTable } from '../shared/failure-table.ts';

/**
 * Rejected requests have only a message, and failed jobs have a `failureCode`. Sources: the vendor's error pages, 2026-07,
 * its SDK, and for `THIRD_PARTY`, recorded responses, 2026-11.
 */
export const runwayFailures: FailureTable = [
  // The vendor also uses 400 for an insufficient balance, and for a model to which the key has no access. Another
  // channel may succeed.
  { words: /not have enough credits|insufficient credits/i, outcome: 'unavailable', class: 'quota' },
  {
    words: /\bmodel\b.*(?:not (?:available|enabled|accessible)|no access|not have access|unavailable)/i,
    outcome: 'unavailable',
    class: 'quota',
  },
  { status: 429, outcome: 'throttled', class: 'capacity' },
  { code: /^SAFETY\.OUTPUT(?:\.|$)/, class: 'moderation_output' },
  { code: /SAFETY\b.*\bTEXT\b/, class: 'moderation_input', input: 'prompt' },
  { code: /SAFETY\b.*\bIMAGE\b/, class: 'moderation_input', input: 'image' },
  { code: /SAFETY\b.*\bVIDEO\b/, class: 'moderation_input', input: 'video' },
  { code: /SAFETY\b.*\bAUDIO\b/, class: 'moderation_input', input: 'audio' },
  { code: /SAFETY\b/, class: 'moderation_input' },
  { code: /^(?:ASSET\.|THIRD_PARTY\.INPUT_VALIDATION)/, class: 'invalid_input' },
  { code: /^THIRD_PARTY\.UNAVAILABLE/, class: 'capacity' },
  { code: /^(?:INTERNAL|INPUT_PREPROCESSING\.INTERNAL)(?:\.|$)/, class: 'internal' },
  // The vendor does not document content rejections at submission.
  {
    words: /content moderation|moderated|safety (?:system|policy)|content policy/i,
    outcome: 'rejected',
    class: 'moderation_input',
  },
];
