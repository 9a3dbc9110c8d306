import { describe, expect, it } from 'vitest';
import { defined } from '../../src/domain/defined.ts';
import { arkFailures } from '../../src/providers/ark/ark-failures.ts';
import { bflFailures } from '../../src/providers/bfl/bfl-failures.ts';
import { dashscopeFailures } from '../../src/providers/dashscope/dashscope-failures.ts';
import { falFailures } from '../../src/providers/fal/fal-failures.ts';
import { gatewayFailures } from '../../src/providers/gateway/gateway-failures.ts';
import { googleFailures } from '../../src/providers/google/google-failures.ts';
import { providers } from '../../src/providers/index.ts';
import { klingFailures } from '../../src/providers/kling/kling-failures.ts';
import { minimaxFailures } from '../../src/providers/minimax/minimax-failures.ts';
import { openaiFailures } from '../../src/providers/openai/openai-failures.ts';
import { replicateFailures } from '../../src/providers/replicate/replicate-failures.ts';
import { runwayFailures } from '../../src/providers/runway/runway-failures.ts';
import { xaiFailures } from '../../src/providers/xai/xai-failures.ts';
import { jobFailure } from '../../src/providers/shared/failure-table.ts';
import type { FailureTable } from '../../src/providers/shared/failure-table.ts';
import { refusalError } from '../../src/providers/shared/http-outcome.ts';
import { failedJob } from '../../src/providers/shared/job-status.ts';

/** Every code of every vendor's error page, as a refusal and as the end of a job. */

const tables: Readonly<Record<string, FailureTable>> = {
  ark: arkFailures,
  bfl: bflFailures,
  dashscope: dashscopeFailures,
  fal: falFailures,
  gateway: gatewayFailures,
  google: googleFailures,
  kling: klingFailures,
  minimax: minimaxFailures,
  openai: openaiFailures,
  replicate: replicateFailures,
  runway: runwayFailures,
  xai: xaiFailures,
};

/** Codes that something is decided by. */
const wordsOfOurs = [
  'at_concurrency_limit', 'upstream_id_taken', 'circuit_open', 'channel_gone', 'unreadable_answer', 'adapter_failed',
  'dns_failed', 'connect_failed', 'connect_timeout', 'tls_failed', 'timeout', 'connection_lost', 'unusable_link',
]; // prettier-ignore

/** Vendor, status, code, words, outcome, class and what was moderated. */
type Row = readonly [string, number, string, string, string, string, string?];

const refusals: readonly Row[] = [
  ['ark', 400, 'MissingParameter', 'm', 'rejected', 'invalid_input'],
  ['ark', 400, 'InvalidParameter.UnsupportedParameter', 'm', 'rejected', 'invalid_input'],
  ['ark', 400, 'InvalidArgumentError.x', 'm', 'rejected', 'invalid_input'],
  ['ark', 400, 'InvalidImageURL.EmptyURL', 'm', 'rejected', 'invalid_input'],
  ['ark', 400, 'OutofContextError', 'm', 'rejected', 'invalid_input'],
  ['ark', 400, 'SomethingNew', 'm', 'rejected', 'invalid_input'],
  ['ark', 400, 'InvalidEndpoint.ClosedEndpoint', 'm', 'unavailable', 'quota'],
  ['ark', 400, 'InvalidSubscription', 'm', 'unavailable', 'quota'],
  ['ark', 400, 'SensitiveContentDetected', 'm', 'rejected', 'moderation_input'],
  ['ark', 400, 'SensitiveContentDetected.Violence', 'm', 'rejected', 'moderation_input'],
  ['ark', 400, 'InputTextSensitiveContentDetected', 'm', 'rejected', 'moderation_input', 'prompt'],
  ['ark', 400, 'InputTextRiskDetection', 'm', 'rejected', 'moderation_input', 'prompt'],
  [
    'ark',
    400,
    'InputImageSensitiveContentDetected.PrivacyInformation',
    'm',
    'rejected',
    'moderation_input',
    'image',
  ],
  ['ark', 400, 'InputImageRiskDetection', 'm', 'rejected', 'moderation_input', 'image'],
  [
    'ark',
    400,
    'InputVideoSensitiveContentDetected.PolicyViolation',
    'm',
    'rejected',
    'moderation_input',
    'video',
  ],
  ['ark', 400, 'InputAudioSensitiveContentDetected', 'm', 'rejected', 'moderation_input', 'audio'],
  ['ark', 400, 'OutputImageSensitiveContentDetected', 'm', 'rejected', 'moderation_output'],
  ['ark', 400, 'OutputImageRiskDetection', 'm', 'rejected', 'moderation_output'],
  ['ark', 400, 'ContentSecurityDetectionError', 'm', 'throttled', 'capacity'],
  ['ark', 401, 'AuthenticationError', 'm', 'unavailable', 'quota'],
  ['ark', 401, 'InvalidAccountStatus', 'm', 'unavailable', 'quota'],
  ['ark', 403, 'AccessDenied', 'm', 'unavailable', 'quota'],
  ['ark', 403, 'AccountOverdueError', 'm', 'unavailable', 'quota'],
  ['ark', 403, 'OperationDenied.ServiceOverdue', 'm', 'unavailable', 'quota'],
  ['ark', 404, 'InvalidEndpointOrModel.NotFound', 'm', 'unavailable', 'quota'],
  ['ark', 404, 'ModelNotOpen', 'm', 'unavailable', 'quota'],
  ['ark', 404, 'UnsupportedModel', 'm', 'unavailable', 'quota'],
  ['ark', 429, 'RateLimitExceeded.EndpointRPMExceeded', 'm', 'throttled', 'capacity'],
  ['ark', 429, 'ModelAccountIpmRateLimitExceeded', 'm', 'throttled', 'capacity'],
  ['ark', 429, 'InflightBatchsizeExceeded', 'm', 'throttled', 'capacity'],
  ['ark', 429, 'ServerOverloaded', 'm', 'throttled', 'capacity'],
  ['ark', 429, 'RequestBurstTooFast', 'm', 'throttled', 'capacity'],
  ['ark', 429, 'QuotaExceeded', 'm', 'unavailable', 'quota'],
  ['ark', 429, 'SetLimitExceeded', 'm', 'unavailable', 'quota'],
  ['ark', 500, 'InternalServiceError', 'm', 'ambiguous', 'internal'],
  ['dashscope', 400, 'InvalidParameter', 'm', 'rejected', 'invalid_input'],
  ['dashscope', 400, 'InvalidParameter.DataInspection', 'cannot download', 'rejected', 'invalid_input'],
  ['dashscope', 400, 'BadRequest.TooLarge', 'm', 'rejected', 'invalid_input'],
  ['dashscope', 400, 'InvalidURL', 'm', 'rejected', 'invalid_input'],
  ['dashscope', 400, 'invalid_parameter_error', 'm', 'rejected', 'invalid_input'],
  ['dashscope', 400, 'UnsupportedOperation', 'm', 'rejected', 'invalid_input'],
  ['dashscope', 400, 'DataInspectionFailed', 'm', 'rejected', 'moderation_input'],
  ['dashscope', 400, 'data_inspection_failed', 'm', 'rejected', 'moderation_input'],
  ['dashscope', 400, 'IPInfringementSuspect', 'm', 'rejected', 'moderation_input'],
  ['dashscope', 400, 'Arrearage', 'm', 'unavailable', 'quota'],
  ['dashscope', 400, 'InvalidParameter', 'Model not exist.', 'unavailable', 'quota'],
  ['dashscope', 404, 'ModelNotFound', 'm', 'unavailable', 'quota'],
  ['dashscope', 404, 'model_not_found', 'm', 'unavailable', 'quota'],
  ['dashscope', 401, 'InvalidApiKey', 'm', 'unavailable', 'quota'],
  ['dashscope', 403, 'AccessDenied.Unpurchased', 'm', 'unavailable', 'quota'],
  ['dashscope', 403, 'Model.AccessDenied', 'm', 'unavailable', 'quota'],
  ['dashscope', 403, 'AllocationQuota.FreeTierOnly', 'm', 'unavailable', 'quota'],
  ['dashscope', 429, 'Throttling.RateQuota', 'm', 'throttled', 'capacity'],
  ['dashscope', 429, 'LimitRequests', 'm', 'throttled', 'capacity'],
  ['dashscope', 429, 'Throttling.AllocationQuota', 'm', 'unavailable', 'quota'],
  ['dashscope', 429, 'insufficient_quota', 'm', 'unavailable', 'quota'],
  ['dashscope', 500, 'InternalError.Timeout', 'm', 'ambiguous', 'internal'],
  ['dashscope', 500, 'ModelServingError', 'm', 'ambiguous', 'capacity'],
  ['dashscope', 503, 'ModelUnavailable', 'm', 'throttled', 'capacity'],
  ['gateway', 400, 'invalid_request', 'm', 'rejected', 'invalid_input'],
  ['gateway', 403, 'quota_not_enough', 'm', 'unavailable', 'quota'],
  ['gateway', 402, 'insufficient_balance', 'm', 'unavailable', 'quota'],
  ['gateway', 400, 'InputImageSensitiveContentDetected', 'm', 'rejected', 'moderation_input', 'image'],
  [
    'gateway',
    400,
    'fail_to_fetch_task',
    '{"error":{"code":"InputTextSensitiveContentDetected","message":"m"}}',
    'rejected',
    'moderation_input',
    'prompt',
  ],
  ['gateway', 400, 'moderation_blocked', 'm', 'rejected', 'moderation_input'],
  ['gateway', 429, 'rate_limit_exceeded', 'm', 'throttled', 'capacity'],
  ['gateway', 500, 'fail_to_fetch_task', 'm', 'ambiguous', 'internal'],
  ['bfl', 400, '', 'The field is wrong.', 'rejected', 'invalid_input'],
  ['bfl', 401, '', 'Not authenticated', 'unavailable', 'quota'],
  ['bfl', 400, '', 'Not authenticated', 'unavailable', 'quota'],
  ['bfl', 403, '', 'Not authenticated - no access to this endpoint', 'unavailable', 'quota'],
  ['bfl', 402, '', 'Insufficient credits. Please add credits.', 'unavailable', 'quota'],
  ['bfl', 402, 'insufficient_credits', 'm', 'unavailable', 'quota'],
  ['bfl', 400, 'insufficient_credits', 'm', 'unavailable', 'quota'],
  ['bfl', 404, '', 'Not Found', 'unavailable', 'quota'],
  ['bfl', 422, 'extra_forbidden', 'Extra inputs are not permitted', 'rejected', 'invalid_input'],
  ['bfl', 429, 'rate_limit_exceeded', 'm', 'throttled', 'capacity'],
  ['bfl', 429, '', 'Too many active tasks', 'throttled', 'capacity'],
  ['bfl', 500, '', 'Internal Server Error', 'ambiguous', 'internal'],
  ['bfl', 502, '', 'm', 'ambiguous', 'internal'],
  ['bfl', 503, '', 'The service is under maintenance.', 'throttled', 'capacity'],
  ['google', 400, 'INVALID_ARGUMENT', 'm', 'rejected', 'invalid_input'],
  ['google', 400, 'invalid_request', 'm', 'rejected', 'invalid_input'],
  ['google', 400, '400', 'duration must be a string', 'rejected', 'invalid_input'],
  ['google', 400, 'INVALID_ARGUMENT', 'API key not valid. Please pass one.', 'unavailable', 'quota'],
  [
    'google',
    400,
    'INVALID_ARGUMENT',
    'The input was blocked by our safety policy.',
    'rejected',
    'moderation_input',
  ],
  ['google', 400, 'FAILED_PRECONDITION', 'User location is not supported.', 'unavailable', 'quota'],
  ['google', 401, 'UNAUTHENTICATED', 'm', 'unavailable', 'quota'],
  ['google', 403, 'PERMISSION_DENIED', 'm', 'unavailable', 'quota'],
  ['google', 404, 'NOT_FOUND', 'm', 'unavailable', 'quota'],
  ['google', 429, 'RESOURCE_EXHAUSTED', 'm', 'throttled', 'capacity'],
  ['google', 429, 'RESOURCE_EXHAUSTED.PerDay', 'm', 'unavailable', 'quota'],
  ['google', 500, 'INTERNAL', 'm', 'ambiguous', 'internal'],
  ['google', 503, 'UNAVAILABLE', 'm', 'throttled', 'capacity'],
  ['google', 504, 'DEADLINE_EXCEEDED', 'm', 'ambiguous', 'internal'],
  ['kling', 401, '1000', 'm', 'unavailable', 'quota'],
  ['kling', 401, '1001', 'm', 'unavailable', 'quota'],
  ['kling', 401, '1002', 'm', 'unavailable', 'quota'],
  ['kling', 401, '1003', 'm', 'unavailable', 'quota'],
  ['kling', 401, '1004', 'm', 'unavailable', 'quota'],
  ['kling', 429, '1100', 'm', 'unavailable', 'quota'],
  ['kling', 429, '1101', 'm', 'unavailable', 'quota'],
  ['kling', 429, '1102', 'm', 'unavailable', 'quota'],
  ['kling', 403, '1103', 'm', 'unavailable', 'quota'],
  ['kling', 400, '1200', 'm', 'rejected', 'invalid_input'],
  ['kling', 400, '1201', 'm', 'rejected', 'invalid_input'],
  ['kling', 404, '1202', 'm', 'unavailable', 'quota'],
  ['kling', 404, '1203', 'm', 'unavailable', 'quota'],
  ['kling', 400, '1300', 'm', 'rejected', 'moderation_input'],
  ['kling', 400, '1301', 'm', 'rejected', 'moderation_input'],
  ['kling', 429, '1302', 'm', 'throttled', 'capacity'],
  ['kling', 429, '1303', 'm', 'throttled', 'capacity'],
  ['kling', 429, '1304', 'm', 'unavailable', 'quota'],
  ['kling', 500, '5000', 'm', 'ambiguous', 'internal'],
  ['kling', 503, '5001', 'm', 'throttled', 'capacity'],
  ['kling', 504, '5002', 'm', 'ambiguous', 'internal'],
  // Some come with status 200.
  ['kling', 200, '1301', 'm', 'rejected', 'moderation_input'],
  ['kling', 200, '1102', 'm', 'unavailable', 'quota'],
  ['kling', 200, '5000', 'm', 'ambiguous', 'internal'],
  ['kling', 400, '9999', 'm', 'rejected', 'invalid_input'],
  ['kling', 200, '9999', 'm', 'ambiguous', 'internal'],
  ['minimax', 400, '2013', 'm', 'rejected', 'invalid_input'],
  ['minimax', 400, 'bad_request_error', 'm', 'rejected', 'invalid_input'],
  ['minimax', 400, 'invalid_request_error', 'm', 'rejected', 'invalid_input'],
  ['minimax', 401, '1004', 'm', 'unavailable', 'quota'],
  ['minimax', 401, '2049', 'm', 'unavailable', 'quota'],
  ['minimax', 401, 'authorized_error', 'm', 'unavailable', 'quota'],
  ['minimax', 402, '1008', 'm', 'unavailable', 'quota'],
  ['minimax', 429, '2056', 'm', 'unavailable', 'quota'],
  ['minimax', 200, '2056', 'm', 'unavailable', 'quota'],
  ['minimax', 422, '1026', 'm', 'rejected', 'moderation_input'],
  ['minimax', 200, '1026', 'm', 'rejected', 'moderation_input'],
  ['minimax', 200, '1027', 'm', 'rejected', 'moderation_output'],
  ['minimax', 429, '1002', 'm', 'throttled', 'capacity'],
  ['minimax', 429, '1039', 'm', 'throttled', 'capacity'],
  ['minimax', 429, '1041', 'm', 'throttled', 'capacity'],
  ['minimax', 200, '2045', 'm', 'throttled', 'capacity'],
  ['minimax', 500, '1000', 'm', 'ambiguous', 'internal'],
  ['minimax', 500, '1001', 'm', 'ambiguous', 'internal'],
  ['minimax', 200, '1013', 'm', 'ambiguous', 'internal'],
  ['minimax', 500, '1024', 'm', 'ambiguous', 'internal'],
  ['minimax', 500, '1033', 'm', 'ambiguous', 'internal'],
  ['minimax', 500, 'server_error', 'm', 'ambiguous', 'internal'],
  ['minimax', 529, 'overloaded_error', 'm', 'throttled', 'capacity'],
  ['openai', 400, 'invalid_value', 'm', 'rejected', 'invalid_input'],
  ['openai', 400, 'moderation_blocked', 'rejected by the safety system', 'rejected', 'moderation_input'],
  ['openai', 400, 'moderation_blocked', 'the generated image was blocked', 'rejected', 'moderation_output'],
  ['openai', 400, 'content_policy_violation', 'm', 'rejected', 'moderation_input'],
  ['openai', 401, 'invalid_api_key', 'm', 'unavailable', 'quota'],
  ['openai', 429, 'insufficient_quota', 'm', 'unavailable', 'quota'],
  ['openai', 400, 'billing_hard_limit_reached', 'm', 'unavailable', 'quota'],
  ['openai', 429, 'rate_limit_exceeded', 'm', 'throttled', 'capacity'],
  ['openai', 500, 'server_error', 'm', 'ambiguous', 'internal'],
  ['fal', 401, '', 'Authentication is required to access this application', 'unavailable', 'quota'],
  ['fal', 403, '', 'User is locked. Reason: Exhausted balance. Top up your balance.', 'unavailable', 'quota'],
  ['fal', 403, '', 'Access denied', 'unavailable', 'quota'],
  ['fal', 404, '', 'Application "x" not found', 'unavailable', 'quota'],
  ['fal', 422, 'missing', 'field required', 'rejected', 'invalid_input'],
  ['fal', 422, '', 'm', 'rejected', 'invalid_input'],
  ['fal', 400, 'bad_request', 'm', 'rejected', 'invalid_input'],
  ['fal', 422, 'content_policy_violation', 'm', 'rejected', 'moderation_input'],
  ['fal', 429, '', 'Rate limit exceeded', 'throttled', 'capacity'],
  ['fal', 500, 'internal_server_error', 'm', 'ambiguous', 'internal'],
  ['fal', 502, 'downstream_service_error', 'm', 'ambiguous', 'internal'],
  ['fal', 504, 'request_timeout', 'm', 'ambiguous', 'internal'],
  ['replicate', 400, '', 'Input validation failed', 'rejected', 'invalid_input'],
  ['replicate', 422, '', 'Invalid version or not permitted: m', 'unavailable', 'quota'],
  ['replicate', 422, '', 'Input validation failed: Must be at most 15', 'rejected', 'invalid_input'],
  ['replicate', 401, '', 'You did not pass a valid authentication token', 'unavailable', 'quota'],
  ['replicate', 402, '', 'Insufficient credit', 'unavailable', 'quota'],
  ['replicate', 402, '', 'Monthly spend limit reached', 'unavailable', 'quota'],
  ['replicate', 403, '', 'm', 'unavailable', 'quota'],
  ['replicate', 404, '', 'The requested resource could not be found.', 'unavailable', 'quota'],
  ['replicate', 429, '', 'Request was throttled.', 'throttled', 'capacity'],
  ['replicate', 500, '', 'm', 'ambiguous', 'internal'],
  ['replicate', 504, '', 'm', 'ambiguous', 'internal'],
  // Runway has no codes: only the text decides.
  ['runway', 400, '', 'You do not have enough credits to run this task.', 'unavailable', 'quota'],
  ['runway', 400, '', 'Model gen4_aleph is not available.', 'unavailable', 'quota'],
  ['runway', 400, '', '`promptImage`: Only HTTPS URLs are allowed.', 'rejected', 'invalid_input'],
  ['runway', 400, '', 'Failed to fetch asset. Received HTTP response code 404', 'rejected', 'invalid_input'],
  ['runway', 400, '', 'Invalid data URI.', 'rejected', 'invalid_input'],
  ['runway', 400, '', 'Unsupported asset type', 'rejected', 'invalid_input'],
  ['runway', 400, '', 'Timeout while fetching asset.', 'rejected', 'invalid_input'],
  ['runway', 400, '', 'Validation of body failed', 'rejected', 'invalid_input'],
  ['runway', 400, '', 'Refused by content moderation.', 'rejected', 'moderation_input'],
  ['runway', 401, '', 'm', 'unavailable', 'quota'],
  ['runway', 403, '', 'm', 'unavailable', 'quota'],
  ['runway', 405, '', 'm', 'rejected', 'invalid_input'],
  ['runway', 413, '', 'm', 'rejected', 'invalid_input'],
  ['runway', 429, '', 'You have reached your daily limit.', 'throttled', 'capacity'],
  ['runway', 500, '', 'm', 'ambiguous', 'internal'],
  ['runway', 502, '', 'm', 'ambiguous', 'internal'],
  [
    'xai',
    400,
    'Client specified an invalid argument',
    'Incorrect API key provided: x',
    'unavailable',
    'quota',
  ],
  ['xai', 400, 'Client specified an invalid argument', 'Model not found: x', 'unavailable', 'quota'],
  [
    'xai',
    400,
    'Client specified an invalid argument',
    'Content violates usage guidelines.',
    'rejected',
    'moderation_input',
  ],
  ['xai', 403, '', 'Content violates usage guidelines.', 'rejected', 'moderation_input'],
  [
    'xai',
    400,
    'Client specified an invalid argument',
    'Argument not supported on this model: seed',
    'rejected',
    'invalid_input',
  ],
  ['xai', 422, '', 'm', 'rejected', 'invalid_input'],
  ['xai', 401, '', 'm', 'unavailable', 'quota'],
  ['xai', 403, 'The caller does not have permission to execute', 'm', 'unavailable', 'quota'],
  ['xai', 402, '', 'm', 'unavailable', 'quota'],
  ['xai', 404, '', 'm', 'unavailable', 'quota'],
  ['xai', 429, 'Some resource has been exhausted', 'm', 'throttled', 'capacity'],
  ['xai', 429, 'Some resource has been exhausted', 'spending limit', 'unavailable', 'quota'],
  ['xai', 500, '', 'm', 'ambiguous', 'internal'],
  ['xai', 503, '', 'at capacity', 'throttled', 'capacity'],
];

for (const [vendor, status, code, message, outcome, kind, input] of refusals) {
  it(`${vendor}: ${status} ${code} (${message}) is ${outcome}, of class ${kind}`, () => {
    const answer = { status, headers: {}, text: '', json: {} };
    const error = refusalError(answer, { code, message }, tables[vendor]);
    expect([error.outcome, error.failure]).toEqual([outcome, defined({ class: kind, input })]);
  });
}

/** Vendor, code, words, class and what was moderated. */
const endings: readonly (readonly [string, string, string, string, string?])[] = [
  ['ark', 'OutputVideoSensitiveContentDetected', 'm', 'moderation_output'],
  ['ark', 'OutputVideoSensitiveContentDetected.PolicyViolation', 'm', 'moderation_output'],
  ['ark', 'InputTextSensitiveContentDetected', 'm', 'moderation_input', 'prompt'],
  ['ark', 'InternalServiceError', 'm', 'internal'],
  ['ark', 'SomethingNew', 'm', 'internal'],
  ['dashscope', 'DataInspectionFailed', 'Input data may contain inappropriate content.', 'moderation_input'],
  [
    'dashscope',
    'DataInspectionFailed',
    'Output data may contain inappropriate content.',
    'moderation_output',
  ],
  ['dashscope', 'InvalidParameter', 'The size is not match', 'invalid_input'],
  ['dashscope', 'InvalidURL', 'm', 'invalid_input'],
  ['dashscope', 'InternalError', 'm', 'internal'],
  ['dashscope', 'SomethingNew', 'm', 'internal'],
  ['gateway', 'OutputVideoSensitiveContentDetected', 'm', 'moderation_output'],
  ['gateway', 'expired', 'm', 'expired'],
  ['gateway', 'cancelled', 'm', 'cancelled'],
  ['gateway', 'failure', 'm', 'internal'],
  ['bfl', 'Request Moderated', 'Moderation Reasons: Protected Content', 'moderation_input'],
  ['bfl', 'Content Moderated', 'm', 'moderation_output'],
  ['bfl', 'Error', 'm', 'internal'],
  ['bfl', 'Failed', 'm', 'internal'],
  ['kling', 'failed', 'Failure to pass the risk control system', 'moderation_output'],
  ['kling', 'failed', 'The result contains sensitive material', 'moderation_output'],
  ['kling', 'failed', 'Internal server error.', 'internal'],
  ['minimax', '1026', 'm', 'moderation_input'],
  ['minimax', '1027', 'm', 'moderation_output'],
  ['minimax', '1033', 'm', 'internal'],
  ['minimax', 'failed', 'm', 'internal'],
  ['fal', 'content_policy_violation', 'flagged by a content checker', 'moderation_input'],
  ['fal', 'content_policy_violation', 'Output video has sensitive content.', 'moderation_output'],
  ['fal', 'no_media_generated', 'm', 'moderation_output'],
  ['fal', 'missing', 'm', 'invalid_input'],
  ['fal', 'value_error', 'm', 'invalid_input'],
  ['fal', 'value_error.number.not_ge', 'm', 'invalid_input'],
  ['fal', 'greater_than', 'm', 'invalid_input'],
  ['fal', 'greater_than_equal', 'm', 'invalid_input'],
  ['fal', 'less_than', 'm', 'invalid_input'],
  ['fal', 'less_than_equal', 'm', 'invalid_input'],
  ['fal', 'one_of', 'm', 'invalid_input'],
  ['fal', 'image_too_small', 'm', 'invalid_input'],
  ['fal', 'image_too_large', 'm', 'invalid_input'],
  ['fal', 'image_load_error', 'm', 'invalid_input'],
  ['fal', 'file_download_error', 'm', 'invalid_input'],
  ['fal', 'file_too_large', 'm', 'invalid_input'],
  ['fal', 'unsupported_image_format', 'm', 'invalid_input'],
  ['fal', 'video_duration_too_long', 'm', 'invalid_input'],
  ['fal', 'video_duration_too_short', 'm', 'invalid_input'],
  ['fal', 'audio_duration_too_long', 'm', 'invalid_input'],
  ['fal', 'feature_not_supported', 'm', 'invalid_input'],
  ['fal', 'sequence_too_long', 'm', 'invalid_input'],
  ['fal', 'face_detection_error', 'm', 'invalid_input'],
  ['fal', 'bad_request', 'm', 'invalid_input'],
  ['fal', 'internal_server_error', 'm', 'internal'],
  ['fal', 'internal_error', 'm', 'internal'],
  ['fal', 'runner_server_error', 'm', 'internal'],
  ['fal', 'generation_timeout', 'm', 'internal'],
  ['fal', 'request_timeout', 'm', 'internal'],
  ['fal', 'startup_timeout', 'm', 'internal'],
  ['fal', 'downstream_service_error', 'm', 'internal'],
  ['fal', 'runner_disconnected', 'm', 'internal'],
  ['fal', 'runner_connection_refused', 'm', 'internal'],
  ['fal', 'runner_incomplete_response', 'm', 'internal'],
  ['fal', 'something_new', 'm', 'internal'],
  ['fal', 'downstream_service_unavailable', 'm', 'capacity'],
  ['fal', 'runner_scheduling_failure', 'm', 'capacity'],
  ['fal', 'client_cancelled', 'm', 'cancelled'],
  ['fal', 'client_disconnected', 'm', 'cancelled'],
  ['replicate', 'E005', 'The input or output was flagged as sensitive. (E005)', 'moderation_output'],
  ['replicate', 'failed', 'NSFW content detected. Try running it again.', 'moderation_output'],
  ['replicate', 'failed', 'Blocked by the safety checker', 'moderation_output'],
  ['replicate', 'E006', 'The input was invalid. (E006)', 'invalid_input'],
  ['replicate', 'failed', 'Invalid input: could not download the image', 'invalid_input'],
  ['replicate', 'PA', 'Prediction interrupted; please retry (PA)', 'internal'],
  ['replicate', 'failed', 'CUDA out of memory', 'internal'],
  ['replicate', 'E8765', 'm (E8765)', 'internal'],
  ['replicate', 'E9243', 'm (E9243)', 'internal'],
  ['runway', 'SAFETY.INPUT.TEXT', 'm', 'moderation_input', 'prompt'],
  ['runway', 'SAFETY.INPUT.IMAGE', 'm', 'moderation_input', 'image'],
  ['runway', 'SAFETY.INPUT.VIDEO', 'm', 'moderation_input', 'video'],
  ['runway', 'SAFETY.INPUT.MULTIMODAL', 'm', 'moderation_input'],
  ['runway', 'INPUT_PREPROCESSING.SAFETY.TEXT', 'm', 'moderation_input', 'prompt'],
  ['runway', 'INPUT_PREPROCESSING.SAFETY.THIRD_PARTY', 'm', 'moderation_input'],
  ['runway', 'INPUT_PREPROCESSING.SAFETY.THIRD_PARTY.X', 'm', 'moderation_input'],
  ['runway', 'SAFETY.OUTPUT.VIDEO', 'm', 'moderation_output'],
  ['runway', 'SAFETY.OUTPUT.TEXT', 'm', 'moderation_output'],
  ['runway', 'ASSET.INVALID', 'm', 'invalid_input'],
  ['runway', 'INPUT_PREPROCESSING.INTERNAL', 'm', 'internal'],
  ['runway', 'INTERNAL', 'm', 'internal'],
  ['runway', 'INTERNAL.BAD_OUTPUT.CODE01', 'm', 'internal'],
  ['runway', 'SOMETHING.NEW', 'm', 'internal'],
  ['runway', 'failed', 'm', 'internal'],
  ['xai', 'invalid_argument', 'm', 'invalid_input'],
  ['xai', 'internal', 'm', 'internal'],
  ['xai', 'x', 'Content violates usage guidelines.', 'moderation_input'],
];

for (const [vendor, code, message, kind, input] of endings) {
  it(`${vendor}: a job that fails with ${code} (${message}) is of class ${kind}`, () => {
    expect(jobFailure(tables[vendor] ?? [], { code, message })).toEqual(defined({ class: kind, input }));
  });
}

describe.each(Object.entries(tables))('%s', (_, table) => {
  const answer = { status: 400, headers: {}, text: '', json: {} };

  it('shows no code that it does not name, but among the words', () => {
    const refusal = { code: 'silverfjord', message: 'm' };
    expect(refusalError(answer, refusal, table)).toMatchObject({
      code: 'http_400',
      words: 'silverfjord: m',
    });
    expect(failedJob(table, refusal)).toMatchObject({ code: 'failed', message: 'silverfjord: m' });
  });

  it.each(wordsOfOurs)('does not name %s, which is a word of ours', (code) => {
    expect(refusalError(answer, { code, message: 'm' }, table).code).toBe('http_400');
  });
});

it('every adapter has its codes here', () => {
  expect(Object.keys(tables)).toEqual(Object.keys(providers));
  const named = new Set([...refusals, ...endings].map(([vendor]) => vendor));
  expect([...named].toSorted()).toEqual(Object.keys(providers));
});

it('the field that a vendor names belongs to a wrong input, and to nothing else', () => {
  const answer = { status: 400, headers: {}, text: '', json: {} };
  const said = { message: 'm', field: 'ratio' };
  expect(refusalError(answer, { code: 'InvalidParameter', ...said }, arkFailures).failure).toEqual({
    class: 'invalid_input',
    field: 'ratio',
  });
  expect(refusalError(answer, { code: 'New', ...said }, arkFailures).failure).toEqual({
    class: 'invalid_input',
    field: 'ratio',
  });
  expect(refusalError(answer, { code: 'InputTextRiskDetection', ...said }, arkFailures).failure).toEqual({
    class: 'moderation_input',
    input: 'prompt',
  });
});
