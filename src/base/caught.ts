export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

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

/** The MongoDB driver throws network errors unwrapped if a large write is cut off. */
export function isNetworkFailure(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code !== undefined && networkCodes.has(code);
}
