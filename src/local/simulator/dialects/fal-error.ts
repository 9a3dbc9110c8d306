import type { Problems } from '../desk.ts';
import { json, WireError } from '../wire.ts';
import type { Mistake, Reply } from '../wire.ts';

/** The two error bodies: of the platform a text, of a model a list. */
export class FalError extends WireError {
  readonly status: number;
  readonly type: string | undefined;
  readonly loc: readonly string[] | undefined;

  /** With `loc` it is the model's. */
  constructor(status: number, message: string, type?: string, loc?: readonly string[]) {
    super(message);
    this.status = status;
    this.type = type;
    this.loc = loc;
  }

  get body(): Record<string, unknown> {
    const { message, type, loc } = this;
    if (loc === undefined) return { detail: message, ...(type === undefined ? {} : { error_type: type }) };
    return { detail: [{ loc, msg: message, type, url: `https://docs.fal.ai/errors#${type}` }] };
  }

  reply(): Reply {
    const { status, type = 'unknown' } = this;
    return json(status, this.body, {
      'x-fal-billable-units': '0',
      'x-fal-error-type': type,
      'x-fal-retryable': String(status >= 500),
    });
  }
}

export function invalidInput({ path, reason, isAbsent }: Mistake): FalError {
  return isAbsent
    ? new FalError(422, 'field required', 'missing', ['body', path])
    : new FalError(422, reason, 'value_error', ['body', ...path.split('.')]);
}

/** What a job ends with, by the type that `[sim:failed=<type>]` names; other types are those of a wrong input. */
const endings: Readonly<Record<string, number>> = {
  internal_server_error: 500,
  internal_error: 500,
  runner_server_error: 500,
  generation_timeout: 504,
  request_timeout: 504,
  startup_timeout: 504,
  downstream_service_error: 502,
  downstream_service_unavailable: 503,
  runner_scheduling_failure: 503,
  runner_disconnected: 503,
  runner_connection_error: 503,
  runner_incomplete_response: 503,
  client_cancelled: 499,
  client_disconnected: 499,
  bad_request: 400,
};

export function endingOf(type: string): FalError {
  const status = endings[type];
  if (status !== undefined) return new FalError(status, `The request ended with ${type}.`, type);
  return new FalError(422, `The input was not accepted: ${type}.`, type, ['body', 'image_url']);
}

export const startTimedOut = new FalError(504, 'Request timed out', 'request_timeout');
export const inputRefused = new FalError(
  422,
  'The content could not be processed because it contained material flagged by a content checker.',
  'content_policy_violation',
  ['body', 'prompt'],
);
export const outputRefused = new FalError(
  422,
  'Output video has sensitive content.',
  'content_policy_violation',
  ['body'],
);
export const noMedia = new FalError(422, 'The model gave no media.', 'no_media_generated', ['body']);
export const notFound = new FalError(404, 'Request not found');

/** No `moderated`: what is refused is refused by the result. */
export const falProblems: Problems = {
  unauthorized: new FalError(401, 'Authentication is required to access this application'),
  forbidden: new FalError(403, 'Access denied'),
  'not-found': new FalError(404, 'Application not found'),
  'rate-limited': new FalError(429, 'Rate limit exceeded'),
  'quota-exhausted': new FalError(403, 'User is locked. Reason: Exhausted balance. Top up your balance.'),
  internal: new FalError(500, 'Internal Server Error', 'internal_server_error'),
  unavailable: new FalError(503, 'Service unavailable', 'runner_scheduling_failure'),
};
