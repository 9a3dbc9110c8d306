import type { RequestIssue } from '../provider.ts';

/** `param` is in the caller's spelling: `duration`, `metadata.seed`, `images[1]`. */
export function issue(param: string, message: string): RequestIssue {
  return { param, message };
}
