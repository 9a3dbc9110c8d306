import type { PinnedDigests } from './pinned-digests.ts';

/**
 * Shows a waiting user one line: what is being fetched, from where, and what comes next. The next line must not
 * overwrite a `lasting` one.
 */
export type Report = (line: string, kind?: 'lasting') => void;

export type LocalOptions = {
  /** Contains downloaded programs and the servers' data, logs and pid files. */
  dataDir: string;
  report: Report;
  environment: NodeJS.ProcessEnv;
  digests?: PinnedDigests;
};

/** Has a message for operators, and is shown without a stack trace. */
export class LocalServerError extends Error {
  override readonly name = 'LocalServerError';
}
