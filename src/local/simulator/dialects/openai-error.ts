import { randomBytes } from 'node:crypto';
import type { Problem } from '../disturb.ts';
import { json, WireError } from '../wire.ts';
import type { Reply } from '../wire.ts';

/** A refusal in OpenAI's terms. */
export class OpenAiError extends WireError {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;

  constructor(status: number, facts: { type?: string; code?: string; param?: string; message: string }) {
    super(facts.message);
    this.status = status;
    this.type = facts.type ?? 'invalid_request_error';
    this.code = facts.code ?? null;
    this.param = facts.param ?? null;
  }

  reply(): Reply {
    const { status, message, type, param, code } = this;
    const headers = { 'x-request-id': `req_${randomBytes(16).toString('hex')}` };
    return json(status, { error: { message, type, param, code } }, headers);
  }
}

export function invalidValue(param: string, message: string): OpenAiError {
  return new OpenAiError(400, { code: 'invalid_value', param, message });
}

export function missingParameter(param: string): OpenAiError {
  const message = `Missing required parameter: '${param}'.`;
  return new OpenAiError(400, { code: 'missing_required_parameter', param, message });
}

export const openAiProblems: Readonly<Record<Problem, OpenAiError>> = {
  unauthorized: new OpenAiError(401, { code: 'invalid_api_key', message: 'Incorrect API key provided.' }),
  forbidden: new OpenAiError(403, {
    code: 'organization_not_verified',
    message: 'Your organization must be verified to use the model.',
  }),
  'not-found': new OpenAiError(404, { code: 'not_found', message: 'The resource does not exist.' }),
  'rate-limited': new OpenAiError(429, {
    type: 'requests',
    code: 'rate_limit_exceeded',
    message: 'Rate limit reached for images per minute.',
  }),
  'quota-exhausted': new OpenAiError(429, {
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    message: 'You exceeded your current quota, please check your plan and billing details.',
  }),
  moderated: new OpenAiError(400, {
    type: 'image_generation_user_error',
    code: 'moderation_blocked',
    message: 'Your request was rejected as a result of our safety system.',
  }),
  internal: new OpenAiError(500, {
    type: 'server_error',
    code: 'server_error',
    message: 'The server had an error while processing your request.',
  }),
  unavailable: new OpenAiError(503, {
    type: 'server_error',
    code: 'service_unavailable',
    message: 'The engine is currently overloaded, please try again later.',
  }),
};
