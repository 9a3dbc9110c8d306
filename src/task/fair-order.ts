import { wasLost } from './attempt.ts';
import type { Task } from './record.ts';

interface Urgent extends Pick<Task, 'id' | 'deadlineAt' | 'createdAt'> {
  /** True if the upstream may have a job for the task whose id we do not know. */
  readonly wasLost: boolean;
}

export type OrderedTask = Urgent & Pick<Task, 'account' | 'model'>;

export function orderedTask(task: Omit<OrderedTask, 'wasLost'> & Pick<Task, 'attempts'>): OrderedTask {
  const { id, account, model, deadlineAt, createdAt, attempts } = task;
  return { id, account, model, deadlineAt, createdAt, wasLost: wasLost(attempts) };
}

const timeDigits = 14;

/** Among tasks of the same account and model, sorting by this key gives the same order as `fairOrder`. */
export function urgencyKey({ id, deadlineAt, createdAt, wasLost }: Urgent): string {
  return [wasLost ? '1' : '0', padded(deadlineAt), padded(createdAt), id].join('-');
}

function padded(time: number): string {
  return Math.round(time).toString().padStart(timeDigits, '0');
}

/**
 * Decides which waiting tasks get scarce capacity first. Accounts take turns, and so do the models of each account.
 * Within a model, the task with the earliest deadline comes first, then the oldest. Tasks with a lost submission come
 * last.
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

function inTurns<Item>(lists: readonly (readonly Item[])[]): readonly Item[] {
  const longest = lists.reduce((most, { length }) => Math.max(most, length), 0);
  return Array.from({ length: longest }, (_, n) => lists.flatMap((list) => list.slice(n, n + 1))).flat();
}

/** Both functions return a number that grows each time the account or model is served, or 0 if it was never served. */
export interface LastServed {
  readonly account: (account: string) => number;
  readonly model: (account: string, model: string) => number;
}

interface Group {
  count: number;
  head: OrderedTask;
}

/**
 * Counts the tasks ahead of `task` in a single pass. The account and the model that were served least recently come
 * next. If none was served yet, the result matches `fairOrder`.
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

/** @param place - The position within the task's own group. The result is its position when all groups take turns. */
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
