import type { Problems } from '../desk.ts';
import { json, WireError } from '../wire.ts';
import type { Mistake, Reply } from '../wire.ts';

/** Most errors are `{"detail":…}`, some `{"error","message",…}`: whatever stands in `body`. */
export class BflError extends WireError {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(JSON.stringify(body));
    this.status = status;
    this.body = body;
  }

  reply(): Reply {
    return json(this.status, this.body);
  }
}

/** 422, in the words of the framework: where, what, of which kind. */
export function notValid({ path, reason, isAbsent }: Mistake): BflError {
  const loc = ['body', ...path.split('.').filter((part) => part !== '')];
  const type = isAbsent ? 'missing' : reason === extraField ? 'extra_forbidden' : 'value_error';
  return new BflError(422, { detail: [{ type, loc, msg: isAbsent ? 'Field required' : reason }] });
}

/** What a strict schema says of a field that it does not have. */
export const extraField = 'Extra inputs are not permitted';

export const noSuchBflRoute = new BflError(404, { detail: 'Not Found' });

/** The account's jobs in flight are as many as it may have. */
export const tooManyTasks = new BflError(429, { detail: 'Too many active tasks' });

/** No `moderated`: the content is inspected when the job runs. */
export const bflProblems = {
  unauthorized: new BflError(401, { detail: 'Not authenticated' }),
  forbidden: new BflError(403, { detail: 'Not authenticated - no access to this endpoint' }),
  'not-found': noSuchBflRoute,
  'rate-limited': new BflError(429, { error: 'rate_limit_exceeded', retry_after: 5 }),
  'quota-exhausted': new BflError(402, { detail: 'Insufficient credits. Please add credits to continue.' }),
  internal: new BflError(500, { detail: 'Internal Server Error' }),
  unavailable: new BflError(503, { detail: 'The service is under maintenance. Please try again later.' }),
} satisfies Problems;
