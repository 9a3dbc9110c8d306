/** What an operator changed, kept with the document that was changed. */
export interface Change {
  /** Unix milliseconds. */
  readonly at: number;
  readonly by: string;
  readonly action: string;
  readonly reason: string;
}

const changesMax = 50;

/** For `$push`: the newest `changesMax` stay. */
export function pushed(change: Change) {
  return { changes: { $each: [change], $slice: -changesMax } };
}
