/** An operator's change, kept in the document that it changed. */
export interface Change {
  /** Unix milliseconds. */
  readonly at: number;
  readonly by: string;
  readonly action: string;
  readonly reason: string;
}

const changesMax = 50;

/** Returns a `$push` value that keeps the newest `changesMax` changes. */
export function pushed(change: Change) {
  return { changes: { $each: [change], $slice: -changesMax } };
}
