import { abandonedNote, closedAt } from '../money/ledger-basis.ts';
import { isImageId } from '../base/ids.ts';
import { isTerminal, taskStatuses } from '../task/task.ts';
import { stateNames } from '../task/state.ts';
import { hourMs } from '../base/times.ts';
import { keys } from './entry.ts';
import type { ClosedTask, Invariant } from './verify-account.ts';
import { violation, type EntryFacts, type VerifyContext } from './verify-context.ts';
import { createChunks } from './verify-reading.ts';
import type { TaskFacts } from './verify-records.ts';

/** A task normally leaves the state `ending` after a single write, so one hour is generous. */
const endingMaxMs = hourMs;

/**
 * Every closed task must have a record, with three exceptions: the record was removed after its retention, the creation
 * was abandoned, or the task is a synchronous image. Removal marks are written before records are removed, so they must
 * be read after the records.
 */
export async function checkClosedTasks(context: VerifyContext, all: readonly ClosedTask[]): Promise<void> {
  const closed = all.filter(({ task, note }) => !isImageId(task) && note !== abandonedNote);
  const tasks = await context.findTasks(closed.map(({ task }) => task));
  const gone = closed.filter(({ task }) => !tasks.has(task));
  const [{ account } = { account: '' }] = gone;
  const before = gone.length === 0 ? 0 : await context.removals.of(account, context.now());
  for (const close of gone.filter(({ at }) => at >= before)) {
    const done = close.kind === 'settle' ? `settled for ${close.charged}` : 'released';
    context.report(violation('charged_is_succeeded', close, `is ${done}, but has no record`));
  }
}

/** Suspected faults are read again before they are reported, because money may have moved in the meantime. */
export async function checkRecords(context: VerifyContext): Promise<void> {
  const records = createChunks(async (chunk: TaskFacts[]) => {
    const suspects = await faultsOf(context, chunk);
    const again = await context.findTasks([...suspects.keys()]);
    for (const [task, [invariant, message]] of await faultsOf(context, [...again.values()])) {
      const account = again.get(task)?.account ?? '';
      context.report(violation(invariant, { account, task }, message));
    }
  });
  for await (const record of context.everyRecord()) await records.add(record);
  await records.end();
}

type Fault = readonly [Invariant, string];

async function faultsOf(context: VerifyContext, tasks: readonly TaskFacts[]): Promise<Map<string, Fault>> {
  const wanted = tasks.flatMap(({ _id }) => [keys.hold(_id), keys.close(_id)]);
  const entries = await context.findEntries(wanted);
  const faults = new Map<string, Fault>();
  for (const task of tasks) {
    const [hold, close] = [entries.get(keys.hold(task._id)), entries.get(keys.close(task._id))];
    const fault = recordFault(task, { hold, close, now: context.now() });
    if (fault !== undefined) faults.set(task._id, fault);
  }
  return faults;
}

interface Books {
  readonly hold: EntryFacts | undefined;
  readonly close: EntryFacts | undefined;
  readonly now: number;
}

function recordFault(task: TaskFacts, books: Books): Fault | undefined {
  const unknown = unknownFault(task);
  if (unknown !== undefined) return ['record_is_known', unknown];
  if (isTerminal(task.status)) return endedFault(task, books);
  const fault = unfinishedFault(task, books);
  return fault === undefined ? undefined : ['unfinished_task_is_held', fault];
}

function unknownFault({ status, state }: TaskFacts): string | undefined {
  if (!taskStatuses.includes(status)) return `has the unknown status ${String(status)}`;
  if (state === undefined || !stateNames.includes(state.at)) {
    return `has the unknown state ${String(state?.at)}`;
  }
  const hasEnded = state.at === 'ended' && state.abandoned === undefined;
  return isTerminal(status) === hasEnded ? undefined : `is ${status}, but its state is ${state.at}`;
}

function unfinishedFault(task: TaskFacts, { hold, close, now }: Books): string | undefined {
  const { account, status, state, stateSince } = task;
  if (isBeingCreated(task, now)) return undefined;
  // The ledger closes an ending task first. An abandoned creation has no hold, and its record will soon be removed.
  const mayBeClosed = state?.at === 'ending' || state?.at === 'ended';
  if (mayBeClosed && isWithin(stateSince, now, endingMaxMs) && (close ?? hold) !== undefined)
    return undefined;
  if (hold?.kind !== 'hold') return `is ${status}, but nothing is held for it`;
  if (close !== undefined) return `is ${status}, but its hold is closed by a ${close.kind}`;
  if (hold.account !== account) return `belongs to account ${account}, but its hold is on ${hold.account}`;
  if (hold.amount === task.hold) return undefined;
  return `shows a hold of ${task.hold ?? 'nothing'}, but the ledger says ${hold.amount}`;
}

/** The reconciler runs every five minutes and abandons creations that are two minutes old. This leaves a margin. */
const creationMaxMs = 20 * 60_000;

/** The task may lack a hold, because its creation is incomplete or was abandoned recently. */
export function isBeingCreated({ state }: TaskFacts, now: number): boolean {
  const tryId = state?.at === 'creating' ? state.tryId : state?.abandoned;
  return typeof tryId === 'string' && isWithin(Number.parseInt(tryId, 10), now, creationMaxMs);
}

/**
 * Returns true if the times differ by less than `limitMs`. `since` may lie in the future, because it may come from
 * another process's clock. An invalid time yields false.
 */
export function isWithin(since: unknown, now: number, limitMs: number): boolean {
  return typeof since === 'number' && since > now - limitMs && since < now + limitMs;
}

function endedFault(task: TaskFacts, { hold, close }: Books): Fault | undefined {
  const { status } = task;
  if (hold?.kind === 'hold' && close === undefined) {
    return ['terminal_task_is_closed', `is ${status}, but its hold is still open`];
  }
  const fault = status === 'succeeded' ? succeededFault(task, close) : failedFault(task, hold, close);
  const shared = fault ?? bookedFault(task, hold, close);
  return shared === undefined ? undefined : ['charged_is_succeeded', shared];
}

function succeededFault({ outcome, charge }: TaskFacts, close: EntryFacts | undefined): string | undefined {
  if (close?.kind !== 'settle') {
    const message = close === undefined ? 'succeeded, but is not settled' : 'succeeded, but was released';
    return message + (charge === undefined ? '' : `, and shows a charge of ${charge}`);
  }
  if (outcome?.kind !== 'succeeded') return 'succeeded without an outcome';
  const charged = closedAt(close);
  return charge === charged ? undefined : `shows ${charge ?? 'no charge'}, but the ledger says ${charged}`;
}

function failedFault(
  { charge }: TaskFacts,
  hold: EntryFacts | undefined,
  close: EntryFacts | undefined,
): string | undefined {
  if (close?.kind === 'settle') return `has failed, but was settled for ${closedAt(close)}`;
  if (hold === undefined) return 'has failed, but has no entry in the ledger';
  return charge === undefined || charge === 0n ? undefined : `has failed, but shows a charge of ${charge}`;
}

function bookedFault(
  { account, hold, cost, costUnknown }: TaskFacts,
  held: EntryFacts | undefined,
  close: EntryFacts | undefined,
): string | undefined {
  if (held?.kind === 'hold' && held.amount !== hold) {
    return `shows a hold of ${hold ?? 'nothing'}, but the ledger says ${held.amount}`;
  }
  const owner = close?.account ?? held?.account;
  if (owner !== undefined && owner !== account) return `belongs to account ${account}`;
  const { upstream } = close ?? {};
  const [shown, written] = [costText(cost, costUnknown), costText(upstream?.cost, upstream?.unknown)];
  return close === undefined || shown === written
    ? undefined
    : `shows ${shown}, but the ledger says ${written}`;
}

function costText(cost: bigint | undefined, unknown = 0): string {
  if (cost === undefined) return 'no cost';
  return `a cost of ${cost}${unknown === 0 ? '' : ` and ${unknown} unknown`}`;
}
