import type { PinnedDigests } from './pinned-digests.ts';

/**
 * Receives one line for a waiting user: what is being fetched, from where, and what comes next. A `lasting` line must
 * not be overwritten by the next one.
 */
export type Report = (line: string, kind?: 'lasting') => void;

export type LocalOptions = {
  /** Contains downloaded programs, and the servers' data, logs and pid files. */
  dataDir: string;
  report: Report;
  /** The parent's environment: the PATH to search, and child processes' proxy and package manager settings. */
  environment: NodeJS.ProcessEnv;
  /** For tests only: the digests of the files that they serve. */
  digests?: PinnedDigests;
};

/** An error whose message is written for operators, so no stack trace is shown. */
export class LocalServerError extends Error {
  override readonly name = 'LocalServerError';
}
