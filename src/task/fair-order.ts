import { wasLost } from './attempt.ts';
import type { Task } from './record.ts';

interface Urgent extends Pick<Task, 'id' | 'deadlineAt' | 'createdAt'> {
  /** Whether an upstream may have a job for the task whose id we do not know. */
  readonly wasLost: boolean;
}

export type OrderedTask = Urgent & Pick<Task, 'account' | 'model'>;

export function orderedTask(task: Omit<OrderedTask, 'wasLost'> & Pick<Task, 'attempts'>): OrderedTask {
  const { id, account, model, deadlineAt, createdAt, attempts } = task;
  return { id, account, model, deadlineAt, createdAt, wasLost: wasLost(attempts) };
}

const timeDigits = 14;

/** Returns a sort key that orders the tasks of one account and model as `fairOrder` does. */
export function urgencyKey({ id, deadlineAt, createdAt, wasLost }: Urgent): string {
  return [wasLost ? '1' : '0', padded(deadlineAt), padded(createdAt), id].join('-');
}

function padded(time: number): string {
  return Math.round(time).toString().padStart(timeDigits, '0');
}

/**
 * Sorts waiting tasks into the order in which they receive scarce capacity. Tasks with a lost submission come last.
 * Accounts alternate, as do the models within each account. Within a model, the task with the earliest deadline comes
 * first, then the oldest task.
 */
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

/** Interleaves the lists: the first item of each, then the second, and so on. */
function inTurns<Item>(lists: readonly (readonly Item[])[]): readonly Item[] {
  const longest = lists.reduce((most, { length }) => Math.max(most, length), 0);
  return Array.from({ length: longest }, (_, n) => lists.flatMap((list) => list.slice(n, n + 1))).flat();
}

/** Functions that return when an account or a model was last served, as an increasing number. 0 means never. */
export interface LastServed {
  readonly account: (account: string) => number;
  readonly model: (account: string, model: string) => number;
}

interface Group {
  count: number;
  head: OrderedTask;
}

/**
 * Counts the tasks that precede `task` in fair order, in one pass. The least recently served account comes next and,
 * within it, the least recently served model. If none has been served, the order matches `fairOrder`.
 */
export function countAhead(
  task: OrderedTask,
  others: Iterable<OrderedTask>,
  { account: accountAt, model: modelAt }: LastServed,
): number {
  const accounts = new Map([[task.account, { count: 0, head: task }]]);
  const models = new Map([[task.model, { count: 0, head: task }]]);
  let [neverLost, moreUrgent] = [0, 0];
  for (const other of others) {
    if (other.id === task.id) continue;
    if (other.wasLost !== task.wasLost) {
      if (task.wasLost) neverLost += 1;
      continue;
    }
    addTo(accounts, other.account, other);
    if (other.account !== task.account) continue;
    addTo(models, other.model, other);
    if (other.model === task.model && isMoreUrgent(other, task)) moreUrgent += 1;
  }
  const turn = placeInTurns(models, { own: task.model, place: moreUrgent }, (model) =>
    modelAt(task.account, model),
  );
  return neverLost + placeInTurns(accounts, { own: task.account, place: turn }, accountAt);
}

function addTo(groups: Map<string, Group>, key: string, task: OrderedTask): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, { count: 1, head: task });
  else {
    group.count += 1;
    if (isMoreUrgent(task, group.head)) group.head = task;
  }
}

/** Must agree with `urgencyKey` for tasks with the same `wasLost`. */
function isMoreUrgent(a: Urgent, b: Urgent): boolean {
  const difference = a.deadlineAt - b.deadlineAt || a.createdAt - b.createdAt;
  return difference === 0 ? a.id < b.id : difference < 0;
}

/** Converts a position within the task's own group into its position in the interleaved list of all groups. */
function placeInTurns(
  groups: ReadonlyMap<string, Group>,
  { own, place }: { readonly own: string; readonly place: number },
  servedAt: (key: string) => number,
): number {
  const mine = groups.get(own);
  let ahead = place;
  for (const [key, { count, head }] of groups) {
    if (key === own || mine === undefined) continue;
    const difference = servedAt(key) - servedAt(own);
    const isFirst = difference === 0 ? isMoreUrgent(head, mine.head) : difference < 0;
    ahead += Math.min(count, place + (isFirst ? 1 : 0));
  }
  return ahead;
}

export function modelInTurn(
  models: readonly string[],
  servedAt: (model: string) => number,
): string | undefined {
  return models.toSorted((a, b) => servedAt(a) - servedAt(b))[0];
}
