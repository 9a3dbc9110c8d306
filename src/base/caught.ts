export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of a failed system call (`ENOENT`), if the error is one. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Codes of system calls on a connection, or on the way to one. */
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

/** Whether a connection failed. MongoDB's driver throws such an error as it is when a large write is cut off. */
export function isNetworkFailure(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code !== undefined && networkCodes.has(code);
}
