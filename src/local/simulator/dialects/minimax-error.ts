import { randomUUID } from 'node:crypto';
import type { Problem } from '../disturb.ts';
import { json, WireError } from '../wire.ts';
import type { Reply } from '../wire.ts';

const types: Readonly<Record<number, string>> = {
  400: 'bad_request_error',
  401: 'authorized_error',
  402: 'insufficient_balance_error',
  404: 'bad_request_error',
  422: 'unprocessable_entity_error',
  429: 'rate_limit_error',
  500: 'server_error',
  529: 'overloaded_error',
};

/** v2: the real status; the code stands in brackets at the end of the words. */
export class MiniMaxError extends WireError {
  readonly status: number;

  constructor(status: number, message: string, code?: number) {
    super(code === undefined ? message : `${message} (${code})`);
    this.status = status;
  }

  reply(): Reply {
    const { status, message } = this;
    const error = { type: types[status] ?? 'server_error', message, http_code: String(status) };
    return json(status, { type: 'error', error, request_id: randomUUID().replaceAll('-', '') });
  }
}

export function invalidParams(message: string): MiniMaxError {
  return new MiniMaxError(400, `invalid params, ${message}`, 2013);
}

export const miniMaxProblems: Readonly<Record<Problem, MiniMaxError>> = {
  unauthorized: new MiniMaxError(401, 'login fail: Please carry the API secret key', 1004),
  forbidden: new MiniMaxError(401, 'invalid api key', 2049),
  'not-found': invalidParams('invalid task_id'),
  'rate-limited': new MiniMaxError(429, 'rate limit exceeded', 1002),
  'quota-exhausted': new MiniMaxError(402, 'insufficient balance', 1008),
  moderated: new MiniMaxError(422, 'video description contains sensitive content', 1026),
  internal: new MiniMaxError(500, 'unknown error', 1000),
  unavailable: new MiniMaxError(529, 'the server cluster is currently under high load'),
};

/** v1 (7.2): status 200 whatever happened. */
export class HailuoError extends WireError {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }

  reply(): Reply {
    return json(200, { base_resp: this.base() });
  }

  base(): { readonly status_code: number; readonly status_msg: string } {
    return { status_code: this.code, status_msg: this.message };
  }
}

export const accepted = { status_code: 0, status_msg: 'success' };

export function invalidHailuo(message: string): HailuoError {
  return new HailuoError(2013, `invalid params, ${message}`);
}

export const hailuoProblems: Readonly<Record<Problem, HailuoError>> = {
  unauthorized: new HailuoError(1004, 'login fail: Please carry the API secret key'),
  forbidden: new HailuoError(2049, 'invalid api key'),
  'not-found': invalidHailuo('invalid task_id'),
  'rate-limited': new HailuoError(1002, 'rate limit'),
  'quota-exhausted': new HailuoError(1008, 'insufficient balance'),
  moderated: new HailuoError(1026, 'input new_sensitive'),
  internal: new HailuoError(1000, 'unknown error'),
  unavailable: new HailuoError(1041, 'conn limit'),
};

/** What was rendered did not pass. */
export const outputModerated = new HailuoError(1027, 'output new_sensitive');
