import type { Filter } from 'mongodb';
import { isImageId } from '../base/ids.ts';
import { isTerminal, unfinishedStatuses } from '../task/task.ts';
import { keys } from './entry.ts';
import type { ClosedTask, Report } from './verify-account.ts';
import { violation } from './verify-context.ts';
import type { EntryFacts, VerifyContext } from './verify-context.ts';
import { createChunks } from './verify-reading.ts';
import type { TaskFacts } from './verify-records.ts';

/**
 * Tasks that have ended must have ended as the ledger says, and be shown at what they cost. Synchronous images have no
 * record, and those of tasks are removed when their time is over: the mark is raised before, so it is read afterwards.
 */
export async function checkClosedTasks(context: VerifyContext, all: readonly ClosedTask[]): Promise<void> {
  const closed = all.filter(({ task }) => !isImageId(task));
  const tasks = await context.findTasks(closed.map(({ task }) => task));
  // The record of an abandoned creation is removed when its hold is released.
  const gone = closed.filter(({ task, kind }) => !tasks.has(task) && kind !== 'release');
  for (const close of closed) {
    const task = tasks.get(close.task);
    if (task === undefined || !isTerminal(task.status)) continue;
    compareEnded(context.report, task, close);
    if (close.kind === 'settle' && isCounted(task, context)) context.settled.count += 1;
  }
  const [{ account } = { account: '' }] = gone;
  const before = gone.length === 0 ? 0 : await context.removals.of(account);
  for (const close of gone.filter(({ at }) => at >= before)) {
    const message = `is settled for ${close.charged}, and has no record`;
    context.report(violation('charged_is_succeeded', close, message));
  }
}

function isCounted({ status, completedAt }: TaskFacts, { settled }: VerifyContext): boolean {
  return status === 'succeeded' && !(completedAt !== undefined && completedAt > settled.until);
}

function compareEnded(report: Report, task: TaskFacts, close: ClosedTask): void {
  const wrong = (what: string): void => report(violation('charged_is_succeeded', close, what));
  if (close.kind === 'settle' && task.status !== 'succeeded')
    wrong(`is ${task.status} and settled for ${close.charged}`);
  else if (close.kind === 'settle' && task.outcome?.kind !== 'succeeded')
    wrong('succeeded without an outcome');
  else if (close.kind === 'settle' && task.charge !== close.charged)
    wrong(`shows ${task.charge ?? 'no charge'}, the ledger says ${close.charged}`);
  if (close.held !== undefined && task.hold !== close.held)
    wrong(`shows a hold of ${task.hold ?? 'nothing'}, the ledger says ${close.held}`);
  if (task.account !== close.account) wrong(`belongs to account ${task.account}`);
  const [shown, written] = [
    costText(task.cost, task.costUnknown),
    costText(close.upstream?.cost, close.upstream?.unknown),
  ];
  if (shown !== written) wrong(`shows ${shown}, the ledger says ${written}`);
}

function costText(cost: bigint | undefined, unknown = 0): string {
  if (cost === undefined) return 'no cost';
  return `a cost of ${cost}${unknown === 0 ? '' : ` and ${unknown} unknown`}`;
}

/**
 * Every succeeded task is settled: those that had ended when the verification began are as many as the ledger's settles
 * have led to. Otherwise each of them is looked up, and so is each that says it ended later.
 */
export async function checkSucceededTasks(context: VerifyContext): Promise<void> {
  const { until, count } = context.settled;
  const areAll = (await context.countSucceeded(until)) === count;
  await lookUpSucceeded(context, areAll ? { completedAt: { $gt: until } } : {});
}

/** The task is read before the ledger, and was written after it: no race. */
async function lookUpSucceeded(context: VerifyContext, which: Filter<TaskFacts>): Promise<void> {
  const succeeded = createChunks(async (chunk: TaskFacts[]) => {
    const closes = await context.findEntries(chunk.map((task) => keys.close(task._id)));
    for (const task of chunk) checkSucceeded(context.report, task, closes.get(keys.close(task._id)));
  });
  for await (const task of context.tasksOf('succeeded', which)) await succeeded.add(task);
  await succeeded.end();
}

export async function checkFailedTasks(context: VerifyContext): Promise<void> {
  for await (const task of context.tasksOf('failed', { charge: { $exists: true, $ne: 0n } })) {
    const message = `is failed and shows a charge of ${task.charge}`;
    context.report(violation('charged_is_succeeded', { account: task.account, task: task._id }, message));
  }
}

function checkSucceeded(report: Report, task: TaskFacts, close: EntryFacts | undefined): void {
  const wrong = (what: string): void =>
    report(violation('charged_is_succeeded', { account: task.account, task: task._id }, what));
  if (close?.kind === 'settle') return;
  const message = close === undefined ? 'succeeded and is not settled' : 'succeeded and was released';
  wrong(message + (task.charge === undefined ? '' : `, and shows a charge of ${task.charge}`));
}

/** Until its end is decided, a task has one open hold of its amount. What looks otherwise is read again: it may have ended. */
export async function checkUnfinishedTasks(context: VerifyContext): Promise<void> {
  const unfinished = createChunks(async (chunk: TaskFacts[]) => {
    const suspects = await faultsOf(context, chunk);
    const again = await context.findTasks([...suspects.keys()]);
    const faults = await faultsOf(context, [...again.values()]);
    for (const [task, fault] of faults) {
      const account = again.get(task)?.account ?? '';
      context.report(violation('unfinished_task_is_held', { account, task }, fault));
    }
  });
  for (const status of unfinishedStatuses) {
    for await (const task of context.tasksOf(status)) await unfinished.add(task);
  }
  await unfinished.end();
}

/** By the tasks' ids. */
async function faultsOf(context: VerifyContext, tasks: readonly TaskFacts[]): Promise<Map<string, string>> {
  const held = tasks.filter(needsHold);
  const wanted = held.flatMap(({ _id }) => [keys.hold(_id), keys.close(_id)]);
  const entries = await context.findEntries(wanted);
  return new Map(
    held.flatMap((task): [string, string][] => {
      const fault = holdFault(task, entries);
      return fault === undefined ? [] : [[task._id, fault]];
    }),
  );
}

/** A creation may not have taken its hold yet; while a task ends, its hold is closed before its record says so. */
function needsHold({ status, state }: TaskFacts): boolean {
  return !isTerminal(status) && !['creating', 'ending', 'ended'].includes(state?.at ?? '');
}

function holdFault(
  { _id: id, account, status, hold }: TaskFacts,
  entries: ReadonlyMap<string, EntryFacts>,
): string | undefined {
  const entry = entries.get(keys.hold(id));
  const close = entries.get(keys.close(id));
  if (entry?.kind !== 'hold') return `is ${status}, and nothing is held for it`;
  if (close !== undefined) return `is ${status}, and its hold is closed by a ${close.kind}`;
  if (entry.account !== account) return `belongs to account ${account}, and ${entry.account} has its hold`;
  if (entry.amount === hold) return undefined;
  return `shows a hold of ${hold ?? 'nothing'}, the ledger says ${entry.amount}`;
}
