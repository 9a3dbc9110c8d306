import { exitStatuses } from './program.js';

type Ending = Exclude<keyof typeof exitStatuses, 'done' | 'configuration'>;

interface Origin {
  readonly cause?: unknown;
  /** Of the gateway's answer. */
  readonly code?: string;
}

/** An error that the user at the terminal can resolve: printed without a stack. */
export class CommandError extends Error {
  /** The code of the gateway's answer; absent: it has not answered. */
  readonly code: string | undefined;
  /** With which the process ends. */
  readonly status: number;

  constructor(ending: Ending, message: string, { cause, code }: Origin = {}) {
    super(message, { cause });
    this.name = 'CommandError';
    this.code = code;
    this.status = exitStatuses[ending].status;
  }
}
