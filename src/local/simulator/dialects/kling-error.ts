import { randomUUID } from 'node:crypto';
import type { Problem } from '../disturb.ts';
import { json, WireError } from '../wire.ts';
import type { Reply } from '../wire.ts';

/** An error body has no `data`. */
export class KlingError extends WireError {
  readonly status: number;
  readonly code: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    [status, code]: readonly [status: number, code: number],
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }

  reply(): Reply {
    const { code, message } = this;
    return json(this.status, { code, message, request_id: randomUUID() }, this.headers);
  }
}

export function badParameter(message: string): KlingError {
  return new KlingError([400, 1201], message);
}

export const noFreeSlot = new KlingError([429, 1303], 'parallel task over resource pack limit');
const unknownResource = new KlingError([404, 1203], 'The requested resource does not exist.');

export const klingProblems: Readonly<Record<Problem, KlingError>> = {
  unauthorized: new KlingError([401, 1002], 'Authorization is invalid.'),
  forbidden: new KlingError([403, 1103], 'No permission for this interface or model.'),
  'not-found': unknownResource,
  'rate-limited': new KlingError([429, 1302], 'The request is too fast, exceeding the rate limit.'),
  'quota-exhausted': new KlingError([429, 1102], 'The resource pack is used up or has expired.'),
  moderated: new KlingError([400, 1301], 'The request triggered the content security policy.'),
  internal: new KlingError([500, 5000], 'Internal server error.'),
  unavailable: new KlingError([503, 5001], 'The server is under maintenance.'),
};

/** How a job reports that its result did not pass: in words only. */
export const moderatedInTask = 'Failure to pass the risk control system';
