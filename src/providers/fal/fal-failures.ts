import type { FailureTable } from '../shared/failure-table.ts';

/**
 * `type` of a model's errors and `error_type` of the platform's; the words only where a type means two things. Source:
 * the vendor's pages on errors, 2026.
 */
export const falFailures: FailureTable = [
  {
    code: /^content_policy_violation$/,
    words: /\boutput\b/i,
    outcome: 'rejected',
    class: 'moderation_output',
  },
  { code: /^content_policy_violation$/, outcome: 'rejected', class: 'moderation_input' },
  // The partner behind the model gave nothing and does not say why: mostly a refusal of its own.
  { code: /^no_media_generated$/, class: 'moderation_output' },
  { code: /^client_(?:cancelled|disconnected)$/, class: 'cancelled' },
  { code: /^(?:downstream_service_unavailable|runner_scheduling_failure)$/, class: 'capacity' },
  // Some of them come with status 400.
  { code: /^(?:downstream_|runner_|internal_|(?:generation|request|startup)_timeout$)/, class: 'internal' },
  {
    code: /^(?:missing|one_of|bad_request|feature_not_supported|sequence_too_long|face_detection_error)$/,
    class: 'invalid_input',
  },
  {
    code: /^(?:value_error|greater_than|less_than|image_|video_|audio_|file_|unsupported_)/,
    class: 'invalid_input',
  },
  // "User is locked. Reason: Exhausted balance." comes with 403, as a lack of permission does.
  { status: 403, words: /locked|balance/i, outcome: 'unavailable', class: 'quota' },
  { status: 404, outcome: 'unavailable', class: 'quota' },
  { status: 400, class: 'invalid_input' },
  { status: 422, class: 'invalid_input' },
];
