export interface Change {
  /** Unix milliseconds. */
  readonly at: number;
  readonly by: string;
  readonly action: string;
  readonly reason: string;
}

const changesMax = 50;

export function pushed(change: Change) {
  return { changes: { $each: [change], $slice: -changesMax } };
}
