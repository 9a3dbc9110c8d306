import { randomBytes } from 'node:crypto';
import type { Problem } from '../disturb.ts';
import { json, WireError } from '../wire.ts';
import type { Reply } from '../wire.ts';

/** A refusal of the gateway: by its task relay (`code`, `data: null`) or by its middleware (OpenAI's shape). */
export class NewApiError extends WireError {
  readonly status: number;
  readonly code: string;
  readonly by: 'relay' | 'middleware';

  constructor(status: number, code: string, message: string, by: 'relay' | 'middleware' = 'relay') {
    super(message);
    this.status = status;
    this.code = code;
    this.by = by;
  }

  reply(): Reply {
    const { status, code, message, by } = this;
    if (by === 'relay') return json(status, { code, message, data: null });
    const text = `${message} (request id: ${randomBytes(8).toString('hex')})`;
    return json(status, { error: { message: text, type: 'new_api_error', param: '', code } });
  }
}

const taskUnknown = new NewApiError(400, 'task_not_exist', 'task_not_exist');

export const newApiProblems: Readonly<Record<Problem, NewApiError>> = {
  unauthorized: new NewApiError(401, 'invalid_api_key', 'Invalid token', 'middleware'),
  forbidden: new NewApiError(403, 'access_denied', 'This token has no access to the model', 'middleware'),
  'not-found': taskUnknown,
  'rate-limited': new NewApiError(429, 'rate_limit_exceeded', 'Too many requests', 'middleware'),
  'quota-exhausted': new NewApiError(403, 'quota_not_enough', 'user quota is not enough'),
  moderated: new NewApiError(
    400,
    'fail_to_fetch_task',
    JSON.stringify({
      error: {
        code: 'InputTextSensitiveContentDetected',
        message: 'The request failed because the input text may contain sensitive information.',
      },
    }),
  ),
  internal: new NewApiError(500, 'fail_to_fetch_task', 'upstream request failed'),
  unavailable: new NewApiError(503, 'get_channel_failed', 'No available channel for the model', 'middleware'),
};
