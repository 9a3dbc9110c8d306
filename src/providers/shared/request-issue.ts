import type { RequestIssue } from '../provider.ts';

/** `param` as the caller wrote it: `duration`, `metadata.seed`, `images[1]`. */
export function issue(param: string, message: string): RequestIssue {
  return { param, message };
}
