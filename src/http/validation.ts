import { isRecord } from '../base/is-record.ts';
import type { z } from 'zod';
import { someNames } from '../models/consumption.ts';
import { GatewayError, invalidParameter } from '../errors/errors.ts';
import { nearestOf } from '../base/nearest.ts';

/** Only the first violation is reported, as a 400 that names its field. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: RawInput): z.output<Schema> {
  const parsed = schema.safeParse(input, { reportInput: true });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue === undefined) throw new GatewayError('invalid_parameter', 'The request is not valid.');
  throw issueError(issue, input);
}

export interface RawInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

function issueError(issue: z.core.$ZodIssue, input: RawInput): GatewayError {
  // The path starts with the part of the request. If that part is missing altogether, the path ends there.
  const param = formatParam(issue.path.slice(1));
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = someNames(issue.keys);
    const unknown = param === '' ? key : `${param}.${key}`;
    return invalidParameter(unknown, `${unknown} is not a field of ${param || 'the body'}.`);
  }
  if (param === '') return new GatewayError('invalid_json', 'The body must be a JSON object.');
  if (issue.input === undefined && issue.code !== 'custom') {
    const meant = misspellingOf(param, input);
    return new GatewayError('missing_parameter', `The parameter ${param} is required.${meant}`, { param });
  }
  return invalidParameter(param, `The parameter ${param} ${describeIssue(issue)}.`);
}

const namesMax = 50;

function misspellingOf(param: string, { body }: RawInput): string {
  const names = isRecord(body) ? Object.keys(body).slice(0, namesMax) : [];
  const nearest = nearestOf(param, names);
  return nearest === undefined ? '' : ` "${nearest}" looks like a misspelling of it.`;
}

function formatParam(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

const articles: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

/** Continues the sentence "The parameter x …". */
function describeIssue(issue: Exclude<z.core.$ZodIssue, z.core.$ZodIssueUnrecognizedKeys>): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${articles[issue.expected] ?? `of type ${issue.expected}`}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => String(value)).join(', ')}`;
    case 'too_small':
      return `must ${boundVerb(issue.origin)} at least ${issue.minimum}${boundUnit(issue.origin)}`;
    case 'too_big':
      return `must ${boundVerb(issue.origin)} at most ${issue.maximum}${boundUnit(issue.origin)}`;
    case 'custom':
    case 'invalid_union':
    case 'invalid_format':
      return issue.message;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_key':
    case 'invalid_element':
      return 'has the wrong format';
    default:
      return issue satisfies never;
  }
}

function boundVerb(origin: string): string {
  return origin === 'string' || origin === 'array' ? 'have' : 'be';
}

function boundUnit(origin: string): string {
  if (origin === 'string') return ' character(s)';
  return origin === 'array' ? ' item(s)' : '';
}
