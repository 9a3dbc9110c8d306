import type { Problems } from '../desk.ts';
import { json, WireError } from '../wire.ts';
import type { Reply } from '../wire.ts';

export interface RunwayIssue {
  readonly path: readonly string[];
  readonly message: string;
}

/** An error body has a text, and no code. */
export class RunwayError extends WireError {
  readonly status: number;
  readonly issues: readonly RunwayIssue[];

  constructor(status: number, message: string, issues: readonly RunwayIssue[] = []) {
    super(message);
    this.status = status;
    this.issues = issues;
  }

  reply(): Reply {
    const { message: error, issues } = this;
    const docUrl = 'https://docs.example/errors';
    return json(this.status, issues.length === 0 ? { error } : { error, docUrl, issues });
  }
}

export function invalidField(path: string, message: string): RunwayError {
  return new RunwayError(400, 'Validation of body failed', [{ path: path.split('.'), message }]);
}

/** A file that the vendor does not fetch. */
export function badAsset(field: string, message: string): RunwayError {
  return new RunwayError(400, `Invalid asset in \`${field}\`: ${message}`, [
    { path: field.split('.'), message },
  ]);
}

/** No `moderated`: the content is inspected when the job runs. 429 is the quota of the day only. */
export const runwayProblems = {
  unauthorized: new RunwayError(401, 'The API key is invalid or disabled.'),
  forbidden: new RunwayError(403, 'You do not have access to this resource.'),
  'not-found': new RunwayError(404, 'Task not found.'),
  'rate-limited': new RunwayError(429, 'You have reached the daily generation limit of this model.'),
  'quota-exhausted': new RunwayError(400, 'You do not have enough credits to run this task.'),
  internal: new RunwayError(500, 'Internal server error.'),
  unavailable: new RunwayError(503, 'Service unavailable.'),
} satisfies Problems;
