/** Something that the person at the terminal can do something about: printed as it is, without a stack. */
export class CommandError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'CommandError';
  }
}
