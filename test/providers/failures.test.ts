import { expect, it } from 'vitest';
import { defined } from '../../src/domain/defined.ts';
import { arkFailures } from '../../src/providers/ark/ark-failures.ts';
import { bflFailures } from '../../src/providers/bfl/bfl-failures.ts';
import { dashscopeFailures } from '../../src/providers/dashscope/dashscope-failures.ts';
import { gatewayFailures } from '../../src/providers/gateway/gateway-failures.ts';
import { klingFailures } from '../../src/providers/kling/kling-failures.ts';
import { minimaxFailures } from '../../src/providers/minimax/minimax-failures.ts';
import { openaiFailures } from '../../src/providers/openai/openai-failures.ts';
import { runwayFailures } from '../../src/providers/runway/runway-failures.ts';
import { jobFailure } from '../../src/providers/shared/failure-table.ts';
import type { FailureTable } from '../../src/providers/shared/failure-table.ts';
import { refusalError } from '../../src/providers/shared/http-outcome.ts';

/** Every code of every vendor's error page, as a refusal and as the end of a job. */

const tables: Readonly<Record<string, FailureTable>> = {
  ark: arkFailures,
  bfl: bflFailures,
  dashscope: dashscopeFailures,
  gateway: gatewayFailures,
  kling: klingFailures,
  minimax: minimaxFailures,
  openai: openaiFailures,
  runway: runwayFailures,
};

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
];

for (const [vendor, code, message, kind, input] of endings) {
  it(`${vendor}: a job that fails with ${code} (${message}) is of class ${kind}`, () => {
    expect(jobFailure(tables[vendor] ?? [], { code, message })).toEqual(defined({ class: kind, input }));
  });
}

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
