/**
 * The order of tasks behind a narrow place. A task that was never lost goes before one that was. Accounts take turns; in
 * the turn of an account its models take turns; of one model the earliest deadline comes first, then the oldest task.
 */
export interface OrderedTask extends Urgent {
  readonly account: string;
  readonly model: string;
}

/** Times in Unix milliseconds. `wasLost`: an upstream may have a job of it that nobody knows. */
export interface Urgent {
  readonly id: string;
  readonly deadlineAt: number;
  readonly createdAt: number;
  readonly wasLost: boolean;
}

const timeDigits = 14;

/** Sorts as `fairOrder` orders the tasks of one account and model. */
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

/** The first of each list, then the second of each, and so on. */
function inTurns<Item>(lists: readonly (readonly Item[])[]): readonly Item[] {
  const longest = lists.reduce((most, { length }) => Math.max(most, length), 0);
  return Array.from({ length: longest }, (_, n) => lists.flatMap((list) => list.slice(n, n + 1))).flat();
}

/** The model whose turn it is: the one that was served longest ago. `servedAt`: 0 for one that never was. */
export function modelInTurn(
  models: readonly string[],
  servedAt: (model: string) => number,
): string | undefined {
  return models.toSorted((a, b) => servedAt(a) - servedAt(b))[0];
}
