import { exitStatuses } from './program.js';

type Ending = Exclude<keyof typeof exitStatuses, 'done' | 'configuration'>;

interface Origin {
  readonly cause?: unknown;
  /** The code in the gateway's response. */
  readonly code?: string;
}

/** An error that the operator can resolve, so it is printed without a stack trace. */
export class CommandError extends Error {
  /** The code in the gateway's response. Undefined without a response. */
  readonly code: string | undefined;
  /** The exit status of the process. */
  readonly status: number;

  constructor(ending: Ending, message: string, { cause, code }: Origin = {}) {
    super(message, { cause });
    this.name = 'CommandError';
    this.code = code;
    this.status = exitStatuses[ending].status;
  }
}
