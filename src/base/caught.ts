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

/** Detects unwrapped network errors, which the MongoDB driver throws if a large write is cut off. */
export function isNetworkFailure(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code !== undefined && networkCodes.has(code);
}
