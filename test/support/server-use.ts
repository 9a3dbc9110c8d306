/**
 * A test file that imports this module belongs to vitest's `servers` project (see projects.ts) and must use a server.
 */
let used = false;

/** A helper must call this when it provides a test with a server. */
export function markServerUse(): void {
  used = true;
}

export function serverWasUsed(): boolean {
  return used;
}

/** Must run before each test file, because one process runs several files. */
export function forgetServerUse(): void {
  used = false;
}
