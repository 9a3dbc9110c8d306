import type { Problem } from '../disturb.ts';
import { json, WireError } from '../wire.ts';
import type { Mistake, Reply } from '../wire.ts';

const daily = {
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }],
};

/** The error body of every Google API. */
export class GoogleError extends WireError {
  readonly code: number;
  readonly status: string;
  readonly details: readonly object[];

  constructor([code, status]: readonly [number, string], message: string, details: readonly object[] = []) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details;
  }

  reply(): Reply {
    const { code, status, message, details } = this;
    return json(code, { error: { code, message, status, ...(details.length > 0 ? { details } : {}) } });
  }
}

/** What interactions say of a wrong request: a word in place of the number. */
export class InteractionError extends WireError {
  readonly code: string;

  constructor(message: string, code = 'invalid_request') {
    super(message);
    this.code = code;
  }

  reply(): Reply {
    const { code, message } = this;
    return json(400, { error: { code, message } });
  }
}

/** The front end answers before any API does, and sometimes with an array. */
export class FrontEndError extends GoogleError {
  override reply(): Reply {
    const { code, status, message } = this;
    return json(code, [{ error: { code, message, status } }]);
  }
}

export const invalid = [400, 'INVALID_ARGUMENT'] as const;
export const wrongKey = 'API key not valid. Please pass a valid API key.';

export function invalidArgument({ path, reason }: Mistake): GoogleError {
  return new GoogleError(invalid, `Invalid value at '${path}': ${reason}`);
}

const tooFast = new GoogleError([429, 'RESOURCE_EXHAUSTED'], 'Resource has been exhausted.');

export const googleProblems: Readonly<Record<Problem, WireError>> = {
  unauthorized: new GoogleError(invalid, wrongKey),
  forbidden: new GoogleError([403, 'PERMISSION_DENIED'], 'The caller does not have permission.'),
  'not-found': new GoogleError([404, 'NOT_FOUND'], 'Requested entity was not found.'),
  'rate-limited': tooFast,
  'quota-exhausted': new GoogleError([429, 'RESOURCE_EXHAUSTED'], 'You exceeded your current quota.', [
    daily,
  ]),
  moderated: new GoogleError(invalid, 'The prompt was blocked because it violates the safety policy.'),
  internal: new GoogleError([500, 'INTERNAL'], 'An internal error has occurred.'),
  unavailable: new GoogleError([503, 'UNAVAILABLE'], 'The model is overloaded. Please try again later.'),
};

/** Google says in the body when to come again, not in a header. */
export function withRetryInfo(reply: Reply): Reply {
  if (reply.kind !== 'send' || reply.status !== 429) return reply;
  const { 'retry-after': seconds, ...headers } = reply.headers;
  if (seconds === undefined || !/^\d+$/.test(seconds)) return reply;
  const { code, message, status } = tooFast;
  const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` };
  return json(429, { error: { code, message, status, details: [retry] } }, headers);
}
