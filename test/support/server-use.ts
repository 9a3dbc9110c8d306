/** Files that import this module belong to vitest's `servers` project (see projects.ts) and must use a server. */
let used = false;

/** Helpers that provide a test with a server must call this. */
export function markServerUse(): void {
  used = true;
}

export function serverWasUsed(): boolean {
  return used;
}

/** Runs before each test file, because one process runs several files. */
export function forgetServerUse(): void {
  used = false;
}
