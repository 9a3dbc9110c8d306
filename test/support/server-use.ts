/** Files that import this module belong to vitest's project `servers` (see projects.ts) and must use a server. */
let used = false;

/** Called by everything that provides a server to a test. */
export function markServerUse(): void {
  used = true;
}

export function serverWasUsed(): boolean {
  return used;
}

/** Called before a test file, because this process may have run other files. */
export function forgetServerUse(): void {
  used = false;
}
