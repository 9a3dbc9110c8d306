/** An error that the user at the terminal can resolve: printed without a stack. */
export class CommandError extends Error {
  /** The code of the gateway's answer; absent: it has not answered. */
  readonly code: string | undefined;

  constructor(message: string, cause?: unknown, code?: string) {
    super(message, { cause });
    this.name = 'CommandError';
    this.code = code;
  }
}
