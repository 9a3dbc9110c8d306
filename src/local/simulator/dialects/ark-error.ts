import { randomBytes } from 'node:crypto';
import type { Problems } from '../desk.ts';
import { json, refusals } from '../wire.ts';
import type { Mistake, Refusal, WireRequest } from '../wire.ts';

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
  return `02${Math.floor(now)}${randomBytes(16).toString('hex')}`;
}

/** The request id always ends the message. */
export function arkWords({ code, message }: Pick<Refusal, 'code' | 'message'>, now: number) {
  return { code, message: `${message} Request id: ${arkRequestId(now)}` };
}

export const arkError = refusals((refusal, now) => {
  const { status, param } = refusal;
  const error = { ...arkWords(refusal, now), param, type: types[status] ?? 'BadRequest' };
  return json(status, { error }, { 'x-request-id': arkRequestId(now) });
});

export function invalid(field: string, reason: string) {
  const text = `The parameter \`${field}\` specified in the request is not valid: ${reason}.`;
  return arkError(400, `InvalidParameter.${field}`, text, field);
}

export function refuseArk({ field, path, reason, isAbsent }: Mistake) {
  if (!isAbsent) return invalid(field, `${path}: ${reason}`);
  const text = `The request failed because it is missing \`${field}\` parameter.`;
  return arkError(400, `MissingParameter.${field}`, text, field);
}

export function modelNotFound(model: string) {
  const text = `The model or endpoint ${model} does not exist or you do not have access to it.`;
  return arkError(404, 'InvalidEndpointOrModel.NotFound', text);
}

export function noArkRoute({ method, path }: WireRequest) {
  return arkError(404, 'NotFound', `No such operation: ${method} ${path}.`);
}

export const arkProblems = {
  unauthorized: arkError(401, 'AuthenticationError', 'The API key in the request is missing or invalid.'),
  forbidden: arkError(403, 'AccountOverdueError', 'Your account has an overdue balance.'),
  'not-found': arkError(404, 'ResourceNotFound', 'The specified resource is not found.'),
  'rate-limited': arkError(429, 'ModelAccountRpmRateLimitExceeded', 'The request exceeds the rate limit.'),
  'quota-exhausted': arkError(429, 'SetLimitExceeded', 'Your account has reached the set inference limit.'),
  moderated: arkError(
    400,
    'InputTextSensitiveContentDetected',
    'The input text may contain sensitive information.',
  ),
  internal: arkError(500, 'InternalServiceError', 'The service encountered an unexpected internal error.'),
  unavailable: arkError(503, 'ServerOverloaded', 'The service is currently unable to handle more requests.'),
} satisfies Problems;
