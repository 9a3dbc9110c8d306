export interface Walk<Item> {
  /** Returns whether anything was done; `walk` counts these. */
  readonly run: (item: Item) => Promise<boolean>;
  /** Logs the failure and postpones the item, so that the next walk starts with other items. */
  readonly onFailed: (item: Item, error: unknown) => Promise<void>;
  /** Returns whether to stop here and leave the remaining items to the next walk. */
  readonly isOver?: () => boolean;
  /** Whether all items run concurrently, because `run` limits its own concurrency. */
  readonly isTogether?: boolean;
}

/**
 * Runs the same job for each item. A failed item never stops the others. If an item cannot even be postponed, its
 * error is thrown after all items have run. Resolves with the number of items done.
 */
export async function walk<Item>(
  items: Iterable<Item>,
  { run, onFailed, isOver = () => false, isTogether = false }: Walk<Item>,
): Promise<number> {
  const lost: unknown[] = [];
  let done = 0;
  const visit = async (item: Item): Promise<void> => {
    if (isOver()) return;
    try {
      if (await run(item)) done += 1;
    } catch (error) {
      await onFailed(item, error).catch((second: unknown) => lost.push(second));
    }
  };
  if (isTogether) await Promise.all([...items].map(visit));
  else for (const item of items) await visit(item);
  if (lost.length > 0) throw new AggregateError(lost, `${lost.length} items could not be postponed`);
  return done;
}
