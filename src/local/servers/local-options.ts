import type { PinnedDigests } from './pinned-digests.ts';

/**
 * Receives one line for a person who waits: what is being fetched, from where, what comes next. `lasting`: it must not
 * be overwritten by the next one.
 */
export type Report = (line: string, kind?: 'lasting') => void;

export type LocalOptions = {
  /** Holds downloaded programs, the servers' data, logs and pid files. */
  dataDir: string;
  report: Report;
  /** The parent's environment: PATH to search, proxies and package managers' settings for the children. */
  environment: NodeJS.ProcessEnv;
  /** Tests only: what they serve in place of the pinned files. */
  digests?: PinnedDigests;
};

/** A sentence for the operator; its text needs no stack beside it. */
export class LocalServerError extends Error {
  override readonly name = 'LocalServerError';
}
