import type { PinnedDigests } from './pinned-digests.ts';

/**
 * Shows one line to a waiting user, such as what is being downloaded. A `lasting` line must not be overwritten by the
 * next one.
 */
export type Report = (line: string, kind?: 'lasting') => void;

export type LocalOptions = {
  /** Contains downloaded programs and the servers' data, logs and pid files. */
  dataDir: string;
  report: Report;
  environment: NodeJS.ProcessEnv;
  digests?: PinnedDigests;
};

/** The message is meant for operators and is shown without a stack trace. */
export class LocalServerError extends Error {
  override readonly name = 'LocalServerError';
}
