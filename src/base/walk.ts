export interface Walk<Item> {
  /** True: something was done, which is counted. */
  readonly run: (item: Item) => Promise<boolean>;
  /** Says that the item failed, and postpones it, so that the next walk begins with others. */
  readonly onFailed: (item: Item, error: unknown) => Promise<void>;
  /** True: what is left is for the next walk. */
  readonly isOver?: () => boolean;
  /** All at once, where `run` takes places of its own. */
  readonly isTogether?: boolean;
}

/**
 * Does the same for many items. One that fails never stops the others, nor does one that cannot be postponed: that error
 * is thrown at the end. Resolves with how many were done.
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
