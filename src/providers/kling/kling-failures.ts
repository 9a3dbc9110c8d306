import type { FailureTable } from '../shared/failure-table.ts';

/**
 * Codes of refusals, and the words of failed jobs, which carry no code. Source: the vendor's table of error codes,
 * 2026-09. One status covers several things: 429 is the pace, the parallel jobs, and the balance.
 */
export const klingFailures: FailureTable = [
  // The key, the balance, the pack, the rights, the list of addresses, the model: another channel may do better.
  { code: /^(?:100[0-4]|110[0-3]|120[23]|1304)$/, outcome: 'unavailable', class: 'quota' },
  { code: /^120[01]$/, outcome: 'rejected', class: 'invalid_input' },
  { code: /^130[01]$/, outcome: 'rejected', class: 'moderation_input' },
  // 1303: every parallel job of the pack is in use; a submission is refused until one of them ends.
  { code: /^130[23]$/, outcome: 'throttled', class: 'capacity' },
  { code: /^5001$/, outcome: 'throttled', class: 'capacity' },
  { code: /^500[02]$/, class: 'internal' },
  // What was rendered did not pass: the job reports it in words only, which are not documented.
  {
    code: /^failed$/,
    words: /risk control|sensitive|moderat|violat|content (?:security|policy)/i,
    class: 'moderation_output',
  },
];
