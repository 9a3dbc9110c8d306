import type { Turns } from './turns.ts';

/** Upkeep is work that no request waits for. The items of each loop are independent of each other. */
export const upkeepLoops = [
  'steps of the upkeep',
  'unfinished tasks',
  'owed callbacks',
  'failing workflows',
  'concerns that passed',
  'slots of ended tasks',
  'queues of slots',
  'slots of keys',
  'limits of accounts',
  'noted accounts',
  'events of caps',
  'copies to retry',
  'copies to delete',
  'copies of removed tasks',
  'files to delete',
  'parts of files',
  'temporary directories',
  'downloads left behind',
  'uploads to delete',
  'dead leases',
  'holds of a dead process',
  'abandoned holds',
  'abandoned creations',
  'accounts to delete',
  'stored bytes',
  'hours of trends',
  'conditions of notices',
] as const;

type UpkeepLoop = (typeof upkeepLoops)[number];

export interface Walk<Item> {
  readonly loop: UpkeepLoop;
  /** Returns whether anything was done. `walk` returns how many items returned true. */
  readonly run: (item: Item) => Promise<boolean>;
  /** Logs the failure and postpones the item, so that the next walk starts with others. */
  readonly onFailed: (item: Item, error: unknown) => unknown;
  readonly isOver?: IsOver;
  /** Makes the next walk begin with the items that this one did not reach. Only for finite lists. */
  readonly turns?: Turns<Item>;
  readonly isTogether?: boolean;
  /**
   * Decides when each item runs, and runs it by calling `job`. All items run concurrently, and `isOver` is checked
   * again before each.
   */
  readonly inPlace?: (item: Item, job: () => Promise<boolean>) => Promise<boolean>;
}

export type IsOver = () => boolean;

export interface StepTime {
  readonly isOver: IsOver;
  /** The first of two loops stops at this point, to leave time for the second. */
  readonly isHalfOver: IsOver;
}

export const unlimited: StepTime = { isOver: () => false, isHalfOver: () => false };

export interface Walked {
  readonly done: number;
  readonly failed: number;
}

/** A failed item never stops the others. If it cannot even be postponed, its error is thrown at the end. */
export async function walk<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  { run, onFailed, isOver = () => false, turns, inPlace, isTogether = inPlace !== undefined }: Walk<Item>,
): Promise<Walked> {
  const lost: unknown[] = [];
  let done = 0;
  let failed = 0;
  const begin = async (item: Item): Promise<boolean> => {
    if (isOver()) return false;
    turns?.note(item);
    return run(item);
  };
  const visit = async (item: Item): Promise<void> => {
    try {
      if (await (inPlace === undefined ? begin(item) : inPlace(item, () => begin(item)))) done += 1;
    } catch (error) {
      failed += 1;
      try {
        await onFailed(item, error);
      } catch (second) {
        lost.push(second);
      }
    }
  };
  const begun: Promise<void>[] = [];
  const ordered = turns === undefined || Symbol.asyncIterator in items ? items : turns.inOrder(items);
  for await (const item of ordered) {
    if (isOver()) break;
    const visited = visit(item);
    if (isTogether) begun.push(visited);
    else await visited;
  }
  await Promise.all(begun);
  if (lost.length > 0) throw new AggregateError(lost, `${lost.length} items could not be postponed`);
  return { done, failed };
}

/**
 * A round starts no new items after this time, in milliseconds. During an outage, each item can take as long as
 * MongoDB's timeouts allow.
 */
const roundMs = 30_000;

/** `now` returns Unix milliseconds. */
export function limitRound(now: () => number): IsOver {
  const endsAt = now() + roundMs;
  return () => now() >= endsAt;
}

export function walkedAll(walks: readonly Walked[]): Walked {
  return {
    done: walks.reduce((sum, { done }) => sum + done, 0),
    failed: walks.reduce((sum, { failed }) => sum + failed, 0),
  };
}
