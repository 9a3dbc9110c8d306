import type { z } from 'zod';

/** The process exits with status 78 (EX_CONFIG). */
export class ConfigError extends Error {
  /** A file name, or "The environment". */
  readonly source: string;
  readonly violations: readonly string[];

  /** @param advice - Printed below the violations, one entry per line. */
  constructor(source: string, violations: readonly string[], advice: readonly string[] = []) {
    super(
      [
        `${source} has ${violations.length} problem(s):`,
        ...violations.map((line) => `  ${line}`),
        ...advice,
      ].join('\n'),
    );
    this.name = 'ConfigError';
    this.source = source;
    this.violations = violations;
  }
}

export const configExitStatus = 78;

export function describeIssue(issue: z.core.$ZodIssue): string[] {
  const path = formatPath(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${path === '' ? key : `${path}.${key}`}: is not a known key`);
  }
  const message = messageOf(issue);
  return [path === '' ? message : `${path}: ${message}`];
}

function messageOf(issue: z.core.$ZodIssue): string {
  const { code, message } = issue;
  if (code === 'too_small' && issue.origin === 'array')
    return issue.minimum === 1 ? 'must have an entry' : `must have at least ${issue.minimum} entries`;
  if (code !== 'invalid_type') return message;
  if (message.endsWith('received undefined')) return 'required';
  return message.endsWith('received NaN') ? 'must be a number' : message;
}

export function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}
