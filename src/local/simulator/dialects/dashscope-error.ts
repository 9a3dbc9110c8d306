import { randomUUID } from 'node:crypto';
import type { Problem } from '../disturb.ts';
import { json, WireError } from '../wire.ts';
import type { Reply } from '../wire.ts';

export class DashScopeError extends WireError {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  reply(): Reply {
    return json(this.status, { request_id: randomUUID(), code: this.code, message: this.message });
  }
}

export function invalidParameter(message: string): DashScopeError {
  return new DashScopeError(400, 'InvalidParameter', message);
}

export const dataInspectionFailed = new DashScopeError(
  400,
  'DataInspectionFailed',
  'Output data may contain inappropriate content.',
);

export const dashScopeProblems: Readonly<Record<Problem, DashScopeError>> = {
  unauthorized: new DashScopeError(401, 'InvalidApiKey', 'Invalid API-key provided.'),
  forbidden: new DashScopeError(403, 'Model.AccessDenied', 'Model access denied.'),
  'not-found': new DashScopeError(404, 'ModelNotFound', 'Model can not be found.'),
  'rate-limited': new DashScopeError(
    429,
    'Throttling.RateQuota',
    'Requests rate limit exceeded, please try again later.',
  ),
  'quota-exhausted': new DashScopeError(
    429,
    'Throttling.AllocationQuota',
    'Allocated quota exceeded, please increase your quota limit.',
  ),
  moderated: new DashScopeError(400, 'DataInspectionFailed', 'Input data may contain inappropriate content.'),
  internal: new DashScopeError(
    500,
    'InternalError',
    'An internal error has occured, please try again later.',
  ),
  unavailable: new DashScopeError(503, 'ModelUnavailable', 'Model is unavailable, please try again later.'),
};
