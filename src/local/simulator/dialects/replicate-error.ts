import type { Problems } from '../desk.ts';
import { json, WireError } from '../wire.ts';
import type { Mistake, Reply } from '../wire.ts';

export interface InvalidField {
  readonly field: string;
  readonly description: string;
}

/** Problem JSON, or a detail alone where there is no title. */
export class ReplicateError extends WireError {
  readonly status: number;
  readonly title: string | undefined;
  readonly fields: readonly InvalidField[];

  constructor(
    [status, title]: readonly [number, string?],
    detail: string,
    fields: readonly InvalidField[] = [],
  ) {
    super(detail);
    this.status = status;
    this.title = title;
    this.fields = fields;
  }

  reply(): Reply {
    const { message: detail, status, title, fields } = this;
    if (title === undefined) return json(status, { detail });
    return json(status, { title, detail, status, ...(fields.length > 0 ? { invalid_fields: fields } : {}) });
  }
}

export function invalidInput({ path, reason }: Pick<Mistake, 'path' | 'reason'>): ReplicateError {
  const field = path === '' ? 'input' : `input.${path}`;
  return new ReplicateError([422, 'Input validation failed'], `- ${field}: ${reason}`, [
    { field, description: reason },
  ]);
}

/** What is wrong outside of the input. */
export function invalidBody({ path, reason }: Mistake): ReplicateError {
  return new ReplicateError([422, 'Input validation failed'], `- ${path}: ${reason}`, [
    { field: path, description: reason },
  ]);
}

export const unknownVersion = new ReplicateError(
  [422, 'Invalid version or not permitted'],
  'The specified version does not exist (or perhaps you have no permission to use it?)',
);

/** No `moderated`: the content is inspected when the prediction runs. */
export const replicateProblems = {
  unauthorized: new ReplicateError([401, 'Unauthenticated'], 'You did not pass a valid authentication token'),
  forbidden: new ReplicateError([403, 'Forbidden'], 'You do not have permission to perform this action.'),
  'not-found': new ReplicateError([404, 'Not found'], 'The requested resource could not be found.'),
  'rate-limited': new ReplicateError([429], 'Request was throttled. Your rate limit resets in ~30s.'),
  'quota-exhausted': new ReplicateError(
    [402, 'Insufficient credit'],
    'You have insufficient credit to run this model.',
  ),
  internal: new ReplicateError([500, 'Internal server error'], 'Something went wrong.'),
  unavailable: new ReplicateError([503], 'Service temporarily unavailable.'),
} satisfies Problems;
