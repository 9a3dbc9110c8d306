import { exitStatuses } from './program.js';

type Ending = Exclude<keyof typeof exitStatuses, 'done' | 'configuration'>;

interface Origin {
  readonly cause?: unknown;
  readonly code?: string;
}

/** An error that the operator can resolve, so no stack trace is printed. */
export class CommandError extends Error {
  readonly code: string | undefined;
  readonly status: number;

  constructor(ending: Ending, message: string, { cause, code }: Origin = {}) {
    super(message, { cause });
    this.name = 'CommandError';
    this.code = code;
    this.status = exitStatuses[ending].status;
  }
}
