import { randomBytes } from 'node:crypto';
import type { Problem } from '../disturb.ts';
import { json, WireError } from '../wire.ts';
import type { Reply, WireRequest } from '../wire.ts';

export class ArkError extends WireError {
  readonly status: number;
  readonly code: string;
  readonly param: string;

  constructor(status: number, code: string, message: string, param = '') {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }

  /** The request id always ends the message. */
  reply(now: number): Reply {
    const { status, code, message, param } = this;
    const id = arkRequestId(now);
    const error = {
      code,
      message: `${message} Request id: ${id}`,
      param,
      type: types[status] ?? 'BadRequest',
    };
    return json(status, { error }, { 'x-request-id': id });
  }
}

export function invalid(field: string, reason: string): ArkError {
  const text = `The parameter \`${field}\` specified in the request is not valid: ${reason}.`;
  return new ArkError(400, `InvalidParameter.${field}`, text, field);
}

export function missing(field: string): ArkError {
  return new ArkError(
    400,
    `MissingParameter.${field}`,
    `The request failed because it is missing \`${field}\` parameter.`,
    field,
  );
}

export function modelNotFound(model: string): ArkError {
  const text = `The model or endpoint ${model} does not exist or you do not have access to it.`;
  return new ArkError(404, 'InvalidEndpointOrModel.NotFound', text);
}

export function noArkRoute({ method, path }: WireRequest): ArkError {
  return new ArkError(404, 'NotFound', `No such operation: ${method} ${path}.`);
}

const types: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
};

export function arkRequestId(now: number): string {
  return `02${now}${randomBytes(16).toString('hex')}`;
}

export const arkProblems: Readonly<Record<Problem, ArkError>> = {
  unauthorized: new ArkError(401, 'AuthenticationError', 'The API key in the request is missing or invalid.'),
  forbidden: new ArkError(
    403,
    'AccountOverdueError',
    'The request failed because your account has an overdue balance.',
  ),
  'not-found': new ArkError(404, 'ResourceNotFound', 'The specified resource is not found.'),
  'rate-limited': new ArkError(
    429,
    'ModelAccountRpmRateLimitExceeded',
    'The request has exceeded the account rate limit of requests per minute for this model.',
  ),
  'quota-exhausted': new ArkError(
    429,
    'SetLimitExceeded',
    'Your account has reached the set inference limit for this model.',
  ),
  moderated: new ArkError(
    400,
    'InputTextSensitiveContentDetected',
    'The request failed because the input text may contain sensitive information.',
  ),
  internal: new ArkError(
    500,
    'InternalServiceError',
    'The service encountered an unexpected internal error.',
  ),
  unavailable: new ArkError(
    503,
    'ServerOverloaded',
    'The service is currently unable to handle additional requests.',
  ),
};
