import type { RequestIssue } from '../provider.ts';

/** `param` is spelt as in the caller's request: `duration`, `metadata.seed`, `images[1]`. */
export function issue(param: string, message: string): RequestIssue {
  return { param, message };
}
