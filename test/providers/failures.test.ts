import { describe, expect, it } from 'vitest';
import { defined } from '../../src/base/defined.ts';
import { arkFailures } from '../../src/providers/ark/ark-failures.ts';
import { bflFailures } from '../../src/providers/bfl/bfl-failures.ts';
import { dashscopeFailures } from '../../src/providers/dashscope/dashscope-failures.ts';
import { falFailures } from '../../src/providers/fal/fal-failures.ts';
import { gatewayFailures } from '../../src/providers/gateway/gateway-failures.ts';
import { googleFailures } from '../../src/providers/google/google-failures.ts';
import { builtInFiles, providers } from '../../src/providers/index.ts';
import { klingFailures } from '../../src/providers/kling/kling-failures.ts';
import { minimaxFailures } from '../../src/providers/minimax/minimax-failures.ts';
import { openaiFailures } from '../../src/providers/openai/openai-failures.ts';
import { openrouterFailures } from '../../src/providers/openrouter/index.ts';
import { replicateFailures } from '../../src/providers/replicate/replicate-failures.ts';
import { runwayFailures } from '../../src/providers/runway/runway-failures.ts';
import { viduFailures } from '../../src/providers/vidu/vidu-job.ts';
import { xaiFailures } from '../../src/providers/xai/xai-failures.ts';
import { failureTableOf } from '../../src/providers/vendor-files/call.ts';
import { jobFailure, type FailureTable } from '../../src/providers/shared/failure-table.ts';
import { refusalError } from '../../src/providers/shared/http-outcome.ts';
import { failedJob } from '../../src/providers/shared/job-status.ts';

/**
 * Covers every code on each vendor's error page. A line starts with what the adapter must conclude: the outcome
 * (`ended` for a job that failed), the class, and what was moderated. The responses follow as `STATUS CODE: MESSAGE`.
 * If the message is `m`, it is left out.
 */
const meanings: Readonly<Record<string, readonly [table: FailureTable, lines: string]>> = {
  ark: [arkFailures, `
    rejected invalid_input: 400 MissingParameter | 400 InvalidParameter.UnsupportedParameter | 400 InvalidArgumentError.x
      | 400 InvalidImageURL.EmptyURL | 400 OutofContextError | 400 SomethingNew
    unavailable quota: 400 InvalidEndpoint.ClosedEndpoint | 400 InvalidSubscription | 401 AuthenticationError | 401 InvalidAccountStatus
      | 403 AccessDenied | 403 AccountOverdueError | 403 OperationDenied.ServiceOverdue | 404 InvalidEndpointOrModel.NotFound | 404 ModelNotOpen
      | 404 UnsupportedModel | 429 QuotaExceeded | 429 SetLimitExceeded
    rejected moderation_input: 400 SensitiveContentDetected | 400 SensitiveContentDetected.Violence
    rejected moderation_input prompt: 400 InputTextSensitiveContentDetected | 400 InputTextRiskDetection
    rejected moderation_input image: 400 InputImageSensitiveContentDetected.PrivacyInformation | 400 InputImageRiskDetection
    rejected moderation_input video: 400 InputVideoSensitiveContentDetected.PolicyViolation
    rejected moderation_input audio: 400 InputAudioSensitiveContentDetected
    rejected moderation_output: 400 OutputImageSensitiveContentDetected | 400 OutputImageRiskDetection
    throttled capacity: 400 ContentSecurityDetectionError | 429 RateLimitExceeded.EndpointRPMExceeded | 429 ModelAccountIpmRateLimitExceeded
      | 429 InflightBatchsizeExceeded | 429 ServerOverloaded | 429 RequestBurstTooFast
    ambiguous internal: 500 InternalServiceError
    ended moderation_output: OutputVideoSensitiveContentDetected | OutputVideoSensitiveContentDetected.PolicyViolation
    ended moderation_input prompt: InputTextSensitiveContentDetected
    ended internal: InternalServiceError | SomethingNew`],
  bfl: [bflFailures, `
    rejected invalid_input: 400: The field is wrong. | 422 extra_forbidden: Extra inputs are not permitted
    unavailable quota: 401: Not authenticated | 400: Not authenticated | 403: Not authenticated - no access to this endpoint
      | 402: Insufficient credits. Please add credits. | 402 insufficient_credits | 400 insufficient_credits | 404: Not Found
    throttled capacity: 429 rate_limit_exceeded | 429: Too many active tasks | 503: The service is under maintenance.
    ambiguous internal: 500: Internal Server Error | 502
    ended moderation_input: Request Moderated: Moderation Reasons: Protected Content
    ended moderation_output: Content Moderated
    ended internal: Error | Failed`],
  dashscope: [dashscopeFailures, `
    rejected invalid_input: 400 InvalidParameter | 400 InvalidParameter.DataInspection: cannot download | 400 BadRequest.TooLarge | 400 InvalidURL
      | 400 invalid_parameter_error | 400 UnsupportedOperation
    rejected moderation_input: 400 DataInspectionFailed | 400 data_inspection_failed | 400 IPInfringementSuspect
    unavailable quota: 400 Arrearage | 400 InvalidParameter: Model not exist. | 404 ModelNotFound | 404 model_not_found | 401 InvalidApiKey
      | 403 AccessDenied | 403 AccessDenied.Unpurchased | 403 Model.AccessDenied | 403 AllocationQuota.FreeTierOnly | 429 Throttling.AllocationQuota
      | 429 insufficient_quota | 429 PrepaidBillOverdue | 429 PostpaidBillOverdue | 429 CommodityNotPurchased | 429 BudgetLimitExceeded
      | 429 QuotaExceeded
    throttled capacity: 429 Throttling | 429 Throttling.RateQuota | 429 Throttling.BurstRate | 429 LimitRequests | 503 ModelUnavailable
    ambiguous internal: 500 InternalError | 500 InternalError.Timeout
    ambiguous capacity: 500 ModelServingError
    ended moderation_input: DataInspectionFailed: Input data may contain inappropriate content.
    ended moderation_input prompt: DataInspectionFailed: Green net check failed for text (input): Input data may contain inappropriate content.
    ended moderation_input image: DataInspectionFailed: Green net check failed for input image
    ended moderation_output: DataInspectionFailed: Output data may contain inappropriate content.
      | DataInspectionFailed: Green net check failed for output video
    ended invalid_input: InvalidParameter: The size is not match | InvalidURL
    ended internal: InternalError | SomethingNew`],
  fal: [falFailures, `
    unavailable quota: 401: Authentication is required to access this application
      | 403: User is locked. Reason: Exhausted balance. Top up your balance. | 403: Access denied | 404: Application "x" not found
    rejected invalid_input: 422 missing: field required | 422 | 400 bad_request
    rejected moderation_input: 422 content_policy_violation
    throttled capacity: 429: Rate limit exceeded
    ambiguous internal: 500 internal_server_error | 502 downstream_service_error | 504 request_timeout
    ended moderation_input: content_policy_violation: flagged by a content checker
    ended moderation_output: content_policy_violation: Output video has sensitive content. | no_media_generated
    ended invalid_input: missing | value_error | value_error.number.not_ge | greater_than | greater_than_equal | less_than | less_than_equal | one_of
      | image_too_small | image_too_large | image_load_error | file_download_error | file_too_large | unsupported_image_format
      | video_duration_too_long | video_duration_too_short | audio_duration_too_long | feature_not_supported | sequence_too_long
      | face_detection_error | bad_request
    ended internal: internal_server_error | internal_error | runner_server_error | generation_timeout | request_timeout | startup_timeout
      | downstream_service_error | runner_disconnected | runner_connection_refused | runner_incomplete_response | something_new
    ended capacity: downstream_service_unavailable | runner_scheduling_failure
    ended cancelled: client_cancelled | client_disconnected`],
  gateway: [gatewayFailures, `
    rejected invalid_input: 400 invalid_request
    unavailable quota: 403 quota_not_enough | 402 insufficient_balance
    rejected moderation_input image: 400 InputImageSensitiveContentDetected
    rejected moderation_input prompt: 400 fail_to_fetch_task: {"error":{"code":"InputTextSensitiveContentDetected","message":"m"}}
    rejected moderation_input: 400 moderation_blocked
    throttled capacity: 429 rate_limit_exceeded
    ambiguous internal: 500 fail_to_fetch_task
    ended moderation_output: OutputVideoSensitiveContentDetected
    ended expired: expired
    ended cancelled: cancelled
    ended internal: failure`],
  google: [googleFailures, `
    rejected invalid_input: 400 INVALID_ARGUMENT | 400 invalid_request | 400 400: duration must be a string
    unavailable quota: 400 INVALID_ARGUMENT: API key not valid. Please pass one. | 400 FAILED_PRECONDITION: User location is not supported.
      | 401 UNAUTHENTICATED | 403 PERMISSION_DENIED | 404 NOT_FOUND | 429 RESOURCE_EXHAUSTED.PerDay
    rejected moderation_input: 400 INVALID_ARGUMENT: The input was blocked by our safety policy.
    throttled capacity: 429 RESOURCE_EXHAUSTED | 503 UNAVAILABLE
    ambiguous internal: 500 INTERNAL | 504 DEADLINE_EXCEEDED`],
  kling: [klingFailures, `
    unavailable quota: 401 1000 | 401 1001 | 401 1002 | 401 1003 | 401 1004 | 429 1100 | 429 1101 | 429 1102 | 403 1103 | 404 1202 | 404 1203
      | 429 1304 | 200 1102
    rejected invalid_input: 400 1200 | 400 1201 | 400 9999
    rejected moderation_input: 400 1300 | 400 1301 | 200 1301
    throttled capacity: 429 1302 | 429 1303 | 503 5001
    ambiguous internal: 500 5000 | 504 5002 | 200 5000 | 200 9999
    ended moderation_output: failed: Failure to pass the risk control system | failed: The result contains sensitive material
    ended internal: failed: Internal server error.`],
  luma: [failureTableOf(builtInFiles.luma), `
    rejected invalid_input: 400: Invalid request | 413 | 422
    rejected moderation_input: 400: The prompt was moderated.
    unavailable quota: 401 | 402: Insufficient balance | 403 | 404
    throttled capacity: 429: Too many concurrent jobs | 503: Image ingestion unavailable
    ambiguous internal: 500 | 502
    ended moderation_input: content_moderated
    ended invalid_input: invalid_request | image_too_large | unsupported_format | corrupt_input
    ended quota: budget_exhausted
    ended capacity: rate_limited
    ended internal: generation_failed | output_not_found`],
  minimax: [minimaxFailures, `
    rejected invalid_input: 400 2013 | 200 2013 | 400 bad_request_error | 400 invalid_request_error
    unavailable quota: 401 1004 | 200 1004 | 401 2049 | 200 2049 | 401 authorized_error | 402 1008 | 200 1008 | 429 2056 | 200 2056
      | 200 2061 | 500 2061
    rejected moderation_input: 422 1026 | 200 1026
    rejected moderation_output: 200 1027
    throttled capacity: 429 1002 | 200 1002 | 429 1039 | 200 1039 | 429 1041 | 200 1041 | 429 2045 | 200 2045 | 529 overloaded_error
    ambiguous internal: 500 1000 | 200 1000 | 500 1001 | 200 1013 | 500 1024 | 500 1033 | 500 server_error
    ended moderation_input: 1026
    ended moderation_output: 1027
    ended internal: 1033 | failed`],
  openai: [openaiFailures, `
    rejected invalid_input: 400 invalid_value
    rejected moderation_input: 400 moderation_blocked: rejected by the safety system | 400 content_policy_violation
    rejected moderation_output: 400 moderation_blocked: the generated image was blocked
    unavailable quota: 401 invalid_api_key | 429 insufficient_quota | 400 billing_hard_limit_reached
    throttled capacity: 429 rate_limit_exceeded
    ambiguous internal: 500 server_error`],
  openrouter: [openrouterFailures, `
    rejected invalid_input: 400 | 413
    rejected moderation_input: 400: Blocked by the safety system | 403 flagged_input | 403: Your input was flagged
    unavailable quota: 401 | 402: Insufficient credits | 403 | 404: No endpoints found
    throttled capacity: 429 | 503
    ambiguous internal: 500
    ended moderation_input: failed: Content policy violation | failed: The image may contain sensitive information
    ended moderation_output: failed: The output was blocked by moderation | failed: Moderation of the output failed
    ended internal: failed: Provider error`],
  replicate: [replicateFailures, `
    rejected invalid_input: 400: Input validation failed | 422: Input validation failed: Must be at most 15
    unavailable quota: 422: Invalid version or not permitted: m | 401: You did not pass a valid authentication token | 402: Insufficient credit
      | 402: Monthly spend limit reached | 403 | 404: The requested resource could not be found.
    throttled capacity: 429: Request was throttled.
    ambiguous internal: 500 | 504
    ended moderation_output: E005: The input or output was flagged as sensitive. (E005) | failed: NSFW content detected. Try running it again.
      | failed: Blocked by the safety checker
    ended invalid_input: E006: The input was invalid. (E006) | failed: Invalid input: could not download the image
    ended internal: PA: Prediction interrupted; please retry (PA) | failed: CUDA out of memory | E8765: m (E8765) | E9243: m (E9243)`],
  runway: [runwayFailures, `
    unavailable quota: 400: You do not have enough credits to run this task. | 400: Model gen4_aleph is not available. | 401 | 403
    rejected invalid_input: 400: \`promptImage\`: Only HTTPS URLs are allowed. | 400: Failed to fetch asset. Received HTTP response code 404
      | 400: Invalid data URI. | 400: Unsupported asset type | 400: Timeout while fetching asset. | 400: Validation of body failed | 405 | 413
    rejected moderation_input: 400: Refused by content moderation.
    throttled capacity: 429: You have reached your daily limit.
    ambiguous internal: 500 | 502
    ended moderation_input prompt: SAFETY.INPUT.TEXT | INPUT_PREPROCESSING.SAFETY.TEXT
    ended moderation_input image: SAFETY.INPUT.IMAGE
    ended moderation_input video: SAFETY.INPUT.VIDEO
    ended moderation_input: SAFETY.INPUT.MULTIMODAL | INPUT_PREPROCESSING.SAFETY.THIRD_PARTY | INPUT_PREPROCESSING.SAFETY.THIRD_PARTY.X
    ended moderation_output: SAFETY.OUTPUT.VIDEO | SAFETY.OUTPUT.TEXT
    ended invalid_input: ASSET.INVALID | THIRD_PARTY.INPUT_VALIDATION
    ended capacity: THIRD_PARTY.UNAVAILABLE
    ended internal: INPUT_PREPROCESSING.INTERNAL | INTERNAL | INTERNAL.BAD_OUTPUT.CODE01 | SOMETHING.NEW | failed`],
  stability: [failureTableOf(builtInFiles.stability), `
    rejected invalid_input: 400 bad_request | 413 payload_too_large | 422 unprocessable
    unavailable quota: 401 unauthorized | 402 payment_required | 403 permission_denied | 404 not_found
    rejected moderation_input: 403 content_moderation
    throttled capacity: 429 rate_limit_exceeded
    ambiguous internal: 500 internal_error`],
  vidu: [viduFailures, `
    rejected invalid_input: 400 BadRequest | 400 FieldLacking | 400 FieldUnwanted | 400 FieldInvalid | 400 FieldItemCountOutOfRange
      | 400 PageSizeOutOfRange | 400 ImageDownloadFailure | 400 ImageFormatInvalid | 409 Conflict
    unavailable quota: 400 ModelUnavailable | 400 CreditInsufficient | 401 Unauthorized | 403 Forbidden | 404 NotFound
    throttled capacity: 400 OperationInProcess | 429 QuotaExceeded | 429 TooManyRequests | 429 SystemThrottling
    rejected moderation_input: 400 AuditSubmitIllegal
    rejected moderation_input prompt: 400 TaskPromptPolicyViolation
    rejected moderation_output: 400 CreationPolicyViolation
    ambiguous internal: 500 InternalServiceFailure
    ended moderation_output: CreationPolicyViolation
    ended moderation_input prompt: TaskPromptPolicyViolation
    ended moderation_input: AuditSubmitIllegal
    ended invalid_input: ImageDownloadFailure
    ended cancelled: UserCancelled | Canceled
    ended internal: InternalServiceFailure`],
  xai: [xaiFailures, `
    unavailable quota: 400 Client specified an invalid argument: Incorrect API key provided: x
      | 400 Client specified an invalid argument: Model not found: x | 401 | 403 The caller does not have permission to execute | 402 | 404
      | 429 Some resource has been exhausted: spending limit
    rejected moderation_input: 400 Client specified an invalid argument: Content violates usage guidelines. | 403: Content violates usage guidelines.
      | 400 imagine:content-moderated: The prompt was rejected.
    rejected moderation_output: 400 imagine:content-moderated: Generated image rejected by content moderation.
      | 400 Client specified an invalid argument: Generated video rejected by content moderation.
    rejected invalid_input: 400 Client specified an invalid argument: Argument not supported on this model: seed | 422
      | 400 invalid-argument: Duration 15s exceeds the maximum.
    throttled capacity: 429 Some resource has been exhausted | 503: at capacity
    ambiguous internal: 500
    ended invalid_input: invalid_argument
    ended internal: internal
    ended moderation_input: x: Content violates usage guidelines.`],
}; // prettier-ignore

const wordsOfOurs = [
  'at_concurrency_limit', 'upstream_id_taken', 'circuit_open', 'channel_gone', 'unreadable_answer', 'adapter_failed',
  'dns_failed', 'connect_failed', 'connect_timeout', 'tls_failed', 'timeout', 'connection_lost', 'unusable_link',
]; // prettier-ignore

interface Row {
  readonly outcome: string;
  readonly failure: object;
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

function rowsOf(lines: string): Row[] {
  return lines
    .replaceAll(/\n +\|/g, ' |')
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [, meaning = '', answers = ''] = /^ *([\w ]+): (.*)$/.exec(line) ?? [];
      const [outcome = '', kind, input] = meaning.split(' ');
      return answers.split(' | ').map((answer): Row => {
        const [, status = 0, code = '', message = 'm'] = answerPattern(outcome).exec(answer) ?? [];
        return { outcome, failure: defined({ class: kind, input }), status: Number(status), code, message };
      });
    });
}

const answerPattern = (outcome: string): RegExp =>
  outcome === 'ended' ? /^()(.+?)(?:: (.*))?$/ : /^(\d{3}) ?(.*?)(?:: (.*))?$/;

describe.each(Object.entries(meanings))('%s', (_, [table, lines]) => {
  it.each(rowsOf(lines))('$status $code ($message) is $outcome, of $failure', (row) => {
    const { outcome, failure, status, code, message } = row;
    if (outcome === 'ended') {
      expect(jobFailure(table, { code, message })).toEqual(failure);
      return;
    }
    const error = refusalError({ status, headers: {}, text: '', json: {} }, { code, message }, table);
    expect([error.outcome, error.failure]).toEqual([outcome, failure]);
  });

  const answer = { status: 400, headers: {}, text: '', json: {} };

  it('shows unlisted codes only within the message', () => {
    const refusal = { code: 'silverfjord', message: 'm' };
    expect(refusalError(answer, refusal, table)).toMatchObject({ code: 'http_400', words: 'silverfjord: m' });
    expect(failedJob(table, refusal)).toMatchObject({ code: 'failed', message: 'silverfjord: m' });
  });

  it.each(wordsOfOurs)('does not contain %s, which is our own code', (code) => {
    expect(refusalError(answer, { code, message: 'm' }, table).code).toBe('http_400');
  });
});

it('every adapter has its codes here', () => {
  expect(Object.keys(meanings)).toEqual(Object.keys(providers));
});

it.each([
  ['InvalidParameter', { class: 'invalid_input', field: 'ratio' }],
  ['New', { class: 'invalid_input', field: 'ratio' }],
  ['InputTextRiskDetection', { class: 'moderation_input', input: 'prompt' }],
])('the field that a vendor names belongs only to a wrong input: %s', (code, failure) => {
  const answer = { status: 400, headers: {}, text: '', json: {} };
  const error = refusalError(answer, { code, message: 'm', field: 'ratio' }, arkFailures);
  expect(error.failure).toEqual(failure);
});
