/**
 * Which test files need servers. A file that reaches this module through its imports belongs to vitest's project
 * `servers` (see projects.ts), and must then really ask for a server.
 */
let used = false;

/** Said by whatever hands a server to a test: one of the run's, or one of the test's own. */
export function markServerUse(): void {
  used = true;
}

export function serverWasUsed(): boolean {
  return used;
}

/** Before a test file: this process may have run others. */
export function forgetServerUse(): void {
  used = false;
}
