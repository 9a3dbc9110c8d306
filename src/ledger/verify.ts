import type { AbstractCursor, Db } from 'mongodb';
import { isTerminal } from '../domain/task.ts';
import type { TaskStatus } from '../domain/task.ts';
import { hasIndex } from '../store/mongo.ts';
import { findByKeys, keyIndex, ledgerCollection } from './collection.ts';
import { chargeOf, keys } from './entry.ts';
import type { EntryDocument } from './entry.ts';
import { closedTask, createAccountCheck, refundedTask } from './verify-account.ts';
import type {
  AccountCheck,
  ClosedTask,
  Invariant,
  RefundedTask,
  Report,
  Violation,
} from './verify-account.ts';

export interface VerifyOptions {
  readonly db: Db;
  /** What accounts for each of these tasks; a task that nothing accounts for is absent. At most 500 at a time. */
  readonly holders: (tasks: readonly string[]) => Promise<ReadonlyMap<string, Holder>>;
  /** Unix milliseconds. */
  readonly now?: () => number;
  readonly onProgress?: (progress: VerifyProgress) => void;
  /** Aborted: the verification stops with its reason. */
  readonly signal?: AbortSignal;
}

/** What has been read so far. */
export interface VerifyProgress {
  readonly accounts: number;
  readonly entries: number;
}

/** `creation`: a create that is in progress, or whose process died so recently that it has not been abandoned yet. */
export type Holder = 'workflow' | 'lease' | 'creation';

export interface VerifyResult {
  /** Open holds, by what accounts for them. */
  readonly openHolds: Readonly<Record<Holder, number>>;
  readonly accounts: number;
  readonly entries: number;
  /** At most 1,000 of them. */
  readonly violations: readonly Violation[];
  /** How many there are. */
  readonly violationCount: number;
}

/** The part of the record that says what should have been paid. */
interface TaskFacts {
  readonly _id: string;
  readonly account: string;
  readonly status: TaskStatus;
  readonly charge?: bigint;
  /** Begins with the time of the creation, in milliseconds. */
  readonly unstarted?: string;
}

const chunkSize = 500;
const violationsMax = 1_000;

/**
 * Reads the whole ledger and all ended tasks once, streaming, and names everything that breaks an invariant. May run
 * while money moves: what looks inconsistent between two collections is read again before it is reported.
 */
export async function verifyLedger(options: VerifyOptions): Promise<VerifyResult> {
  const violations: Violation[] = [];
  let violationCount = 0;
  const report: Report = (violation) => {
    violationCount += 1;
    if (violations.length < violationsMax) violations.push(violation);
  };
  const context = createContext(options, report);
  let accounts = 0;
  let entries = 0;
  for await (const { _id: account } of context.accounts()) {
    accounts += 1;
    const check = createAccountCheck(account, report);
    const closed = createChunks((chunk: ClosedTask[]) => checkClosedTasks(context, chunk));
    const refunded = createChunks((chunk: RefundedTask[]) => checkRefunds(context, chunk));
    for await (const entry of context.entriesOf(account)) {
      entries += 1;
      check.next(entry);
      const close = closedTask(entry);
      if (close !== undefined) await closed.add(close);
      const refund = refundedTask(entry);
      if (refund !== undefined) await refunded.add(refund);
      if (entries % chunkSize === 0) options.onProgress?.({ accounts, entries });
    }
    await closed.end();
    await refunded.end();
    await checkWhatIsOpen(context, account, check);
  }
  if (entries > 0 && !(await context.hasKeyIndex())) {
    report({ invariant: 'one_hold_and_one_close', message: 'the unique index on key is missing' });
  }
  await checkEndedTasks(context);
  options.onProgress?.({ accounts, entries });
  return { openHolds: context.openHolds, accounts, entries, violations, violationCount };
}

type Context = ReturnType<typeof createContext>;

/** The reconciler abandons a creation after two minutes, and runs every five. */
const creationMaxMs = 20 * 60_000;

function createContext({ db, holders, now = Date.now, signal }: VerifyOptions, report: Report) {
  const ledger = ledgerCollection(db);
  const tasks = db.collection<TaskFacts>('tasks', {
    readConcern: { level: 'majority' },
    readPreference: 'primary',
    useBigInt64: true,
  });
  const projection = { account: 1, status: 1, charge: 1, unstarted: 1 };
  const openHolds: Record<Holder, number> = { workflow: 0, lease: 0, creation: 0 };
  return {
    report,
    holders,
    openHolds,
    isBeingCreated: (task: TaskFacts | undefined) =>
      task?.unstarted !== undefined && Number.parseInt(task.unstarted, 10) > now() - creationMaxMs,
    hasKeyIndex: () => hasIndex(ledger, keyIndex),
    accounts: () =>
      each(
        ledger.aggregate<{ _id: string }>([{ $group: { _id: '$account' } }], { allowDiskUse: true }),
        signal,
      ),
    entriesOf: (account: string) => each(ledger.find({ account }).sort({ seq: 1 }), signal),
    endedTasks: (status: 'succeeded' | 'failed') => each(tasks.find({ status }, { projection }), signal),
    findEntries: (wanted: readonly string[]) => findByKeys(ledger, wanted),
    async findTasks(ids: readonly string[]): Promise<Map<string, TaskFacts>> {
      const found = await tasks.find({ _id: { $in: [...ids] } }, { projection }).toArray();
      return new Map(found.map((task) => [task._id, task]));
    },
  };
}

/** In batches that leave the event loop to others in between, and no further than the signal allows. */
async function* each<Item>(
  found: AbstractCursor<Item>,
  signal: AbortSignal | undefined,
): AsyncIterable<Item> {
  for await (const item of found.batchSize(chunkSize)) {
    signal?.throwIfAborted();
    yield item;
  }
}

/** Collects items and passes them on in chunks. */
function createChunks<Item>(flush: (chunk: Item[]) => Promise<void>) {
  let chunk: Item[] = [];
  async function end(): Promise<void> {
    const full = chunk;
    chunk = [];
    if (full.length > 0) await flush(full);
  }
  return {
    async add(item: Item): Promise<void> {
      chunk.push(item);
      if (chunk.length >= chunkSize) await end();
    },
    end,
  };
}

/**
 * Settled tasks must have succeeded, and be shown at what they cost; a task without a record is a synchronous image.
 */
async function checkClosedTasks(context: Context, closed: readonly ClosedTask[]): Promise<void> {
  const settled = closed.filter(({ kind }) => kind === 'settle');
  const tasks = await context.findTasks(settled.map(({ task }) => task));
  const unfinished: ClosedTask[] = [];
  for (const close of settled) {
    const task = tasks.get(close.task);
    if (task === undefined) continue;
    if (isTerminal(task.status)) compareCharge(context.report, task, close);
    else unfinished.push(close);
  }
  if (unfinished.length === 0) return;
  const live = await context.holders(unfinished.map(({ task }) => task));
  const again = await context.findTasks(unfinished.map(({ task }) => task));
  for (const close of unfinished) {
    const status = again.get(close.task)?.status;
    if (live.has(close.task) || status === undefined || isTerminal(status)) continue;
    context.report(
      violation('charged_is_succeeded', close, `is settled, is ${status}, and nothing is working on it`),
    );
  }
}

function compareCharge(report: Report, task: TaskFacts, close: ClosedTask): void {
  if (task.status !== 'succeeded') {
    report(violation('charged_is_succeeded', close, `is ${task.status} and settled for ${close.charged}`));
  } else if (task.charge !== undefined && task.charge !== close.charged) {
    report(
      violation('charged_is_succeeded', close, `shows ${task.charge}, the ledger says ${close.charged}`),
    );
  }
  if (task.account !== close.account) {
    report(violation('charged_is_succeeded', close, `belongs to account ${task.account}`));
  }
}

/** A settle comes before its refund, so that a ledger that is read later has it. */
async function checkRefunds(context: Context, refunds: readonly RefundedTask[]): Promise<void> {
  const closes = await context.findEntries(refunds.map(({ task }) => keys.close(task)));
  for (const refund of refunds) {
    const close = closes.get(keys.close(refund.task));
    const fault = refundFault(refund, close);
    if (fault !== undefined) context.report(violation('refunded_within_charge', refund, fault));
  }
}

function refundFault(refund: RefundedTask, close: EntryDocument | undefined): string | undefined {
  if (close?.kind !== 'settle') return `is refunded ${refund.amount}, and was never settled`;
  if (close.account !== refund.account) return `is refunded, and was charged to account ${close.account}`;
  if (close.seq > refund.seq) return 'was refunded before it was settled';
  const charged = chargeOf(close);
  return refund.amount > charged ? `was charged ${charged}, and is refunded ${refund.amount}` : undefined;
}

/**
 * Holds without a close, and settles whose excess was not charged. Both may have been completed since they were read.
 */
async function checkWhatIsOpen(context: Context, account: string, check: AccountCheck): Promise<void> {
  const holds = createChunks((chunk: string[]) => checkOpenHolds(context, account, chunk));
  // A hold of zero locks nothing: there is nothing to give back.
  for (const [task, amount] of check.openHolds) if (amount > 0n) await holds.add(task);
  await holds.end();
  for (const [task, amount] of check.owedExtras) {
    const key = keys.chargeExtra(task);
    if ((await context.findEntries([key])).has(key)) continue;
    const message = `is settled beyond its hold, but ${amount} was never charged`;
    context.report(violation('settled_in_full', { account, task }, message));
  }
}

async function checkOpenHolds(context: Context, account: string, open: readonly string[]): Promise<void> {
  const tasks = await context.findTasks(open);
  const live = await context.holders(open);
  const suspects: string[] = [];
  for (const task of open) {
    const facts = tasks.get(task);
    const holder = live.get(task) ?? (context.isBeingCreated(facts) ? 'creation' : undefined);
    if (holder === undefined || isEnded(facts)) suspects.push(task);
    else context.openHolds[holder] += 1;
  }
  const closes = await context.findEntries(suspects.map(keys.close));
  for (const task of suspects) {
    if (closes.has(keys.close(task))) continue;
    const facts = tasks.get(task);
    if (isEnded(facts)) {
      const message = `is ${facts?.status ?? 'ended'} and its hold is still open`;
      context.report(violation('terminal_task_is_closed', { account, task }, message));
    } else {
      const message = 'has an open hold, and no workflow, lease or creation accounts for it';
      context.report(violation('open_hold_is_live', { account, task }, message));
    }
  }
}

function isEnded(task: TaskFacts | undefined): boolean {
  return task !== undefined && isTerminal(task.status);
}

/** Every succeeded task is settled. The task was read before the ledger, and is written after it: no race. */
async function checkEndedTasks(context: Context): Promise<void> {
  const succeeded = createChunks(async (chunk: TaskFacts[]) => {
    const closes = await context.findEntries(chunk.map((task) => keys.close(task._id)));
    for (const task of chunk) checkSucceeded(context.report, task, closes.get(keys.close(task._id)));
  });
  for await (const task of context.endedTasks('succeeded')) await succeeded.add(task);
  await succeeded.end();
  for await (const task of context.endedTasks('failed')) {
    if ((task.charge ?? 0n) === 0n) continue;
    const message = `is failed and shows a charge of ${task.charge}`;
    context.report(violation('charged_is_succeeded', { account: task.account, task: task._id }, message));
  }
}

function checkSucceeded(report: Report, task: TaskFacts, close: EntryDocument | undefined): void {
  if (close?.kind === 'settle') return;
  const message = close === undefined ? 'succeeded and is not settled' : 'succeeded and was released';
  const shown = task.charge === undefined ? '' : `, and shows a charge of ${task.charge}`;
  report(violation('charged_is_succeeded', { account: task.account, task: task._id }, message + shown));
}

interface Subject {
  readonly account: string;
  readonly task: string;
}

/** `what` continues a sentence that begins with the task's id. */
function violation(invariant: Invariant, { account, task }: Subject, what: string): Violation {
  return { invariant, account, task, message: `${task} ${what}` };
}
