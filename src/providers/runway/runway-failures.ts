import type { FailureTable } from '../shared/failure-table.ts';

/**
 * Words of refusals, which carry no code, and the `failureCode` of failed jobs. Source: the vendor's pages on errors,
 * 2026-07, and its SDK.
 */
export const runwayFailures: FailureTable = [
  // A status of 400 for the balance, too, and for a model that the key may not use: another channel may do better.
  { words: /not have enough credits|insufficient credits/i, outcome: 'unavailable', class: 'quota' },
  {
    words: /\bmodel\b.*(?:not (?:available|enabled|accessible)|no access|not have access|unavailable)/i,
    outcome: 'unavailable',
    class: 'quota',
  },
  // The day's generations are used up. There is no limit on the pace.
  { status: 429, outcome: 'throttled', class: 'capacity' },
  { code: /^SAFETY\.OUTPUT(?:\.|$)/, class: 'moderation_output' },
  { code: /SAFETY\b.*\bTEXT\b/, class: 'moderation_input', input: 'prompt' },
  { code: /SAFETY\b.*\bIMAGE\b/, class: 'moderation_input', input: 'image' },
  { code: /SAFETY\b.*\bVIDEO\b/, class: 'moderation_input', input: 'video' },
  { code: /SAFETY\b.*\bAUDIO\b/, class: 'moderation_input', input: 'audio' },
  { code: /SAFETY\b/, class: 'moderation_input' },
  { code: /^ASSET\./, class: 'invalid_input' },
  { code: /^(?:INTERNAL|INPUT_PREPROCESSING\.INTERNAL)(?:\.|$)/, class: 'internal' },
  // No refusal for content is documented at the submit.
  {
    words: /content moderation|moderated|safety (?:system|policy)|content policy/i,
    outcome: 'rejected',
    class: 'moderation_input',
  },
];
