/**
 * The order in which waiting tasks get scarce capacity. Tasks that were lost before go last. Accounts take turns, and
 * the models of an account take turns. Within a model, the earliest deadline comes first, then the oldest task.
 */
export interface OrderedTask extends Urgent {
  readonly account: string;
  readonly model: string;
}

/** Times are in Unix milliseconds. `wasLost`: an upstream may have a job of the task whose id we do not know. */
export interface Urgent {
  readonly id: string;
  readonly deadlineAt: number;
  readonly createdAt: number;
  readonly wasLost: boolean;
}

const timeDigits = 14;

/** A sort key for the tasks of one account and model, in the order of `fairOrder`. */
export function urgencyKey({ id, deadlineAt, createdAt, wasLost }: Urgent): string {
  return [wasLost ? '1' : '0', padded(deadlineAt), padded(createdAt), id].join('-');
}

function padded(time: number): string {
  return Math.round(time).toString().padStart(timeDigits, '0');
}

export function fairOrder<Item extends OrderedTask>(tasks: readonly Item[]): readonly Item[] {
  const keyed = new Map(tasks.map((task) => [urgencyKey(task), task]));
  const urgent = [...keyed.keys()].toSorted().flatMap((key) => keyed.get(key) ?? []);
  const groups = [urgent.filter(({ wasLost }) => !wasLost), urgent.filter(({ wasLost }) => wasLost)];
  return groups.flatMap((group) =>
    inTurns(
      listsBy(group, ({ account }) => account).map((own) => inTurns(listsBy(own, ({ model }) => model))),
    ),
  );
}

function listsBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly (readonly Item[])[] {
  const lists = new Map<string, Item[]>();
  for (const item of items) {
    const list = lists.get(keyOf(item));
    if (list === undefined) lists.set(keyOf(item), [item]);
    else list.push(item);
  }
  return [...lists.values()];
}

/** Interleaves the lists: the first item of each, then the second of each, and so on. */
function inTurns<Item>(lists: readonly (readonly Item[])[]): readonly Item[] {
  const longest = lists.reduce((most, { length }) => Math.max(most, length), 0);
  return Array.from({ length: longest }, (_, n) => lists.flatMap((list) => list.slice(n, n + 1))).flat();
}

/** Returns the model that was served longest ago. `servedAt` is 0 for a model that was never served. */
export function modelInTurn(
  models: readonly string[],
  servedAt: (model: string) => number,
): string | undefined {
  return models.toSorted((a, b) => servedAt(a) - servedAt(b))[0];
}
