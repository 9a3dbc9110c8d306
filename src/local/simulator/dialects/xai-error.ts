import type { Problem } from '../disturb.ts';
import { json, WireError } from '../wire.ts';
import type { Reply } from '../wire.ts';

/** The code is a sentence, and several things share one: the words distinguish them. */
export class XaiError extends WireError {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  reply(): Reply {
    return json(this.status, { code: this.code, error: this.message });
  }
}

const argument = 'Client specified an invalid argument';
const permission = 'The caller does not have permission to execute the specified operation';

export function invalidArgument(message: string): XaiError {
  return new XaiError(400, argument, message);
}

/** No key at all; one that is wrong is an invalid argument. */
export const noKey = new XaiError(401, permission, 'No API key was provided.');
export const modelNotFound = (model: string): XaiError => invalidArgument(`Model not found: ${model}`);

export const xaiProblems: Readonly<Record<Problem, XaiError>> = {
  unauthorized: invalidArgument('Incorrect API key provided: xa***ey.'),
  forbidden: new XaiError(403, permission, 'The team has no access to this model.'),
  'not-found': new XaiError(404, 'Some requested entity was not found', 'The request was not found.'),
  'rate-limited': new XaiError(429, 'Some resource has been exhausted', 'Too many requests.'),
  'quota-exhausted': new XaiError(402, 'Some resource has been exhausted', 'All credits are used up.'),
  moderated: invalidArgument('Content violates usage guidelines.'),
  internal: new XaiError(500, 'Internal error', 'An internal error occurred.'),
  unavailable: new XaiError(503, 'The service is currently unavailable', 'The model is at capacity.'),
};
