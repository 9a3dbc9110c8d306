import type { PinnedDigests } from './pinned-digests.ts';

/**
 * Shows one line to a waiting user: what is being fetched, from where, and what comes next. The next line must not
 * overwrite a `lasting` one.
 */
export type Report = (line: string, kind?: 'lasting') => void;

export type LocalOptions = {
  /** Contains downloaded programs, and the servers' data, logs and pid files. */
  dataDir: string;
  report: Report;
  /**
   * This process's environment, with the PATH to search, and with the settings of proxies and package managers for
   * child processes.
   */
  environment: NodeJS.ProcessEnv;
  /** For tests only: digests of the files that the tests serve. */
  digests?: PinnedDigests;
};

/** An error with a message for operators. It is shown without a stack trace. */
export class LocalServerError extends Error {
  override readonly name = 'LocalServerError';
}
