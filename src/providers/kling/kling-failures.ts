import type { FailureTable } from '../shared/failure-table.ts';

/**
 * Rejected requests have codes, but failed jobs only have messages. Source: the vendor's error code table, 2026-09. A
 * status can have several meanings: 429 covers the request rate, the number of parallel jobs, and the balance.
 */
export const klingFailures: FailureTable = [
  // The cause is the key, the balance, the resource pack, the permissions, the IP allowlist or the model. Another
  // channel may succeed.
  { code: /^(?:100[0-4]|110[0-3]|120[23]|1304)$/, outcome: 'unavailable', class: 'quota' },
  { code: /^120[01]$/, outcome: 'rejected', class: 'invalid_input' },
  { code: /^130[01]$/, outcome: 'rejected', class: 'moderation_input' },
  // 1303 means that all parallel jobs of the resource pack are in use. Submissions are rejected until one of the jobs
  // finishes.
  { code: /^130[23]$/, outcome: 'throttled', class: 'capacity' },
  { code: /^5001$/, outcome: 'throttled', class: 'capacity' },
  { code: /^500[02]$/, class: 'internal' },
  // The rendered result was rejected. The job reports this only in its message, which is undocumented.
  {
    code: /^failed$/,
    words: /risk control|sensitive|moderat|violat|content (?:security|policy)/i,
    class: 'moderation_output',
  },
];
