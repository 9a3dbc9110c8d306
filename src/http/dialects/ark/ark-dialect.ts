import { z } from 'zod';
import { errorTable, type ErrorCode, type GatewayError } from '../../../errors/errors.ts';
import { presentError } from '../../error-response.ts';
import type { Dialect } from '../dialect.ts';

const errorSchema = z
  .object({
    error: z.object({
      code: z.string().meta({
        description: 'An Ark error code. The guide “Dialects” lists the corresponding gateway codes.',
      }),
      message: z.string(),
      param: z.string(),
      type: z.string(),
    }),
  })
  .meta({ id: 'ArkError' });

export const arkDialect: Dialect = {
  idName: 'task_id',
  tag: 'Videos as Ark',
  description:
    'The same tasks as under `/v1/videos/generations`, in the format of Volcengine Ark’s and BytePlus ModelArk’s content generation. The guide “Dialects” describes the mapping.',
  errors: { schema: errorSchema, present: presentArkError },
};

/**
 * Source: volcengine-go-sdk@cf20b61b, `service/arkruntime/model/error.go`, and the error codes in Ark's documentation.
 */
const codes: Readonly<Record<ErrorCode, string>> = {
  invalid_json: 'InvalidParameter',
  missing_parameter: 'MissingParameter',
  invalid_parameter: 'InvalidParameter',
  unsupported_parameter: 'InvalidParameter.UnsupportedParameter',
  content_policy_violation: 'SensitiveContentDetected',
  model_not_found: 'InvalidEndpointOrModel.NotFound',
  media_url_not_allowed: 'InvalidParameter',
  callback_url_not_allowed: 'InvalidParameter',
  invalid_api_key: 'AuthenticationError',
  insufficient_balance: 'AccountOverdueError',
  spend_cap_exceeded: 'SetLimitExceeded',
  key_not_allowed: 'AccessDenied',
  model_not_allowed: 'AccessDenied',
  channel_not_allowed: 'AccessDenied',
  account_closed: 'AccessDenied',
  operator_not_allowed: 'AccessDenied',
  task_not_found: 'ResourceNotFound',
  result_not_found: 'ResourceNotFound',
  file_not_found: 'ResourceNotFound',
  account_not_found: 'ResourceNotFound',
  key_not_found: 'ResourceNotFound',
  operator_not_found: 'ResourceNotFound',
  invitation_not_found: 'ResourceNotFound',
  session_not_found: 'ResourceNotFound',
  channel_not_found: 'ResourceNotFound',
  route_not_found: 'ResourceNotFound',
  method_not_allowed: 'InvalidParameter',
  request_timeout: 'InvalidParameter',
  idempotency_key_reused: 'InvalidParameter',
  result_not_ready: 'OperationDenied.InvalidState',
  task_not_cancellable: 'OperationDenied.InvalidState',
  action_not_possible: 'OperationDenied.InvalidState',
  account_exists: 'InvalidParameter',
  operator_exists: 'InvalidParameter',
  request_too_large: 'InvalidParameter',
  unsupported_media_type: 'InvalidParameter',
  rate_limit_exceeded: 'RateLimitExceeded.EndpointRPMExceeded',
  concurrency_limit_exceeded: 'AccountRateLimitExceeded',
  storage_quota_exceeded: 'QuotaExceeded',
  internal_error: 'InternalServiceError',
  provider_error: 'InternalServiceError',
  service_unavailable: 'ServerOverloaded',
};

const types: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  402: 'Forbidden',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
};

export function presentArkError(error: GatewayError): z.output<typeof errorSchema> {
  const { message, param } = presentError(error).error;
  const type = types[errorTable[error.code].status] ?? 'BadRequest';
  return { error: { code: codes[error.code], message, param, type } };
}
