import type { PinnedDigests } from './pinned-digests.ts';

/**
 * Shows one line to a waiting user: what is being downloaded, from where, and what comes next. A `lasting` line must
 * not be overwritten by the next one.
 */
export type Report = (line: string, kind?: 'lasting') => void;

export type LocalOptions = {
  /** The directory for downloaded programs and the servers' data, logs and pid files. */
  dataDir: string;
  report: Report;
  environment: NodeJS.ProcessEnv;
  digests?: PinnedDigests;
};

/** An error whose message is meant for operators and is shown without a stack trace. */
export class LocalServerError extends Error {
  override readonly name = 'LocalServerError';
}
