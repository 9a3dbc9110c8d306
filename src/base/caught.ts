export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the error's system call code, such as `ENOENT`, if any. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Codes of system calls that fail while a connection is opened or used. */
const networkCodes = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTCONN',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Whether a connection failed. If a large write is cut off, MongoDB's driver throws such an error unchanged. */
export function isNetworkFailure(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code !== undefined && networkCodes.has(code);
}
