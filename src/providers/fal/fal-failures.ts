import type { FailureTable } from '../shared/failure-table.ts';

/**
 * Model errors have a `type`, and platform errors have an `error_type`. The message is matched only if a type has two
 * meanings. Source: the vendor's error pages, 2026.
 */
export const falFailures: FailureTable = [
  {
    code: /^content_policy_violation$/,
    words: /\boutput\b/i,
    outcome: 'rejected',
    class: 'moderation_output',
  },
  { code: /^content_policy_violation$/, outcome: 'rejected', class: 'moderation_input' },
  // The partner behind the model returned nothing and gave no reason. Usually, the request was rejected.
  { code: /^no_media_generated$/, class: 'moderation_output' },
  { code: /^client_(?:cancelled|disconnected)$/, class: 'cancelled' },
  { code: /^(?:downstream_service_unavailable|runner_scheduling_failure)$/, class: 'capacity' },
  // Matched by code, because some of these errors have status 400.
  { code: /^(?:downstream_|runner_|internal_|(?:generation|request|startup)_timeout$)/, class: 'internal' },
  {
    code: /^(?:missing|one_of|bad_request|feature_not_supported|sequence_too_long|face_detection_error)$/,
    class: 'invalid_input',
  },
  {
    code: /^(?:value_error|greater_than|less_than|image_|video_|audio_|file_|unsupported_)/,
    class: 'invalid_input',
  },
  // Status 403 covers both "User is locked. Reason: Exhausted balance." and a missing permission.
  { status: 403, words: /locked|balance/i, outcome: 'unavailable', class: 'quota' },
  { status: 404, outcome: 'unavailable', class: 'quota' },
  { status: 400, class: 'invalid_input' },
  { status: 422, class: 'invalid_input' },
];
