import { closedAt } from '../money/ledger-basis.ts';
import { GatewayError } from '../errors/errors.ts';
import { isImageId } from '../base/ids.ts';
import { formatAmount, parseMicros, type Micros } from '../money/money.ts';
import { planRefusal, resultOf, type Planned } from './act-plan.ts';
import type { ActionInput } from '../operating/act-fields.ts';
import type { ActionResult } from '../operating/acts.ts';
import { isTerminal } from '../task/task.ts';
import type { Task, TaskActionRecord } from '../task/record.ts';
import type { LedgerEntry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { TaskStore } from '../store/tasks.ts';

export interface RefundTaskDeps {
  readonly tasks: Pick<TaskStore, 'step' | 'withdrawConcern'>;
  readonly ledger: Pick<Ledger, 'refund' | 'entriesOfTask'>;
  readonly currency: () => string;
}

/**
 * Refunds a task's charge once, in full or in part. The ledger entry decides between concurrent calls. Its note
 * contains the operator and the reason, from which the action in the task's record is derived. If a crash prevented
 * that record, the next caller adds it before its own refund is rejected.
 */
export async function refundTask(
  task: Task,
  input: ActionInput,
  deps: RefundTaskDeps,
): Promise<ActionResult> {
  if (!isTerminal(task.status)) throw refused('Only a task that has ended can be refunded.');
  const entries = await deps.ledger.entriesOfTask(task.id);
  const { id, rev, account, status, model, channel = '' } = task;
  const planned = { id, rev, action: 'refund', input } as const;
  const subject = { account, model, channel, words: `The task has ${status}`, entries };
  const money = await refund(subject, planned, { ...deps, record: (entry) => record(entry, task, deps) });
  return resultOf({ task: `The task stays ${status}.`, money }, planned);
}

/**
 * Refunds images that were generated synchronously. Only their ledger entries record the operator and the reason.
 * Returns undefined if there are no such images.
 */
export async function refundImages(
  id: string,
  input: ActionInput,
  deps: Pick<RefundTaskDeps, 'ledger' | 'currency'>,
): Promise<ActionResult | undefined> {
  const entries = isImageId(id) ? await deps.ledger.entriesOfTask(id) : [];
  const hold = entries.find(({ kind }) => kind === 'hold');
  if (hold === undefined) return undefined;
  const { account, model = '' } = hold;
  const close = entries.find(({ kind }) => kind === 'settle' || kind === 'release');
  if (close === undefined) throw refused('The images are still being generated.');
  const { channel = '' } = close.upstream ?? {};
  const planned = { id, rev: entries.length, action: 'refund', input } as const;
  const subject = { account, model, channel, words: 'The request has failed', entries };
  const money = await refund(subject, planned, { ...deps, record: async () => undefined });
  return resultOf({ task: 'The images stay as they are.', money }, planned);
}

interface Refundable extends Pick<Task, 'account' | 'model'> {
  readonly channel: string;
  readonly words: string;
  readonly entries: readonly LedgerEntry[];
}

async function refund(
  { account, model, channel, words, entries }: Refundable,
  planned: Planned,
  deps: Pick<RefundTaskDeps, 'ledger' | 'currency'> & {
    readonly record: (entry: LedgerEntry) => Promise<void>;
  },
): Promise<string> {
  const { id, input } = planned;
  const { by, reason, amount: asked, dry_run: dryRun = false } = input;
  const currency = deps.currency();
  const earlier = entries.find(({ kind }) => kind === 'refund');
  if (earlier !== undefined) {
    if (!dryRun) await deps.record(earlier);
    throw refusedAsDone(earlier, currency);
  }
  const settle = entries.find(({ kind }) => kind === 'settle');
  const charged = settle === undefined ? 0n : closedAt(settle);
  if (charged === 0n) throw refused(`${words}, and nothing was charged for it.`);
  const amount = asked === undefined ? charged : (parseMicros(asked) ?? 0n);
  if (amount > charged) throw refusedAsTooMuch(charged, currency);
  const outdated = planRefusal(planned);
  if (outdated !== undefined) throw refused(outdated);
  if (!dryRun) {
    const note = `by ${by}: ${reason}`;
    const upstream = { model, channel, cost: 0n, unknown: 0 };
    const done = await deps.ledger.refund({ account, task: id, amount, note, upstream });
    if (!done.ok) throw refusedAsTooMuch(done.refused === 'above_charge' ? done.charged : 0n, currency);
    await deps.record(done.entry);
    // Another caller was faster, unless this entry is ours and only its response was lost.
    const isOurs = done.entry.note === note && done.entry.amount === amount;
    if (done.replayed && !isOurs) throw refusedAsDone(done.entry, currency);
  }
  return `${formatAmount(amount, currency)} is refunded to the account ${account}; ${formatAmount(charged, currency)} was charged.`;
}

/** Constant, because a task can be refunded only once. */
const refundActId = 'refund';

async function record(entry: LedgerEntry, task: Task, { tasks, currency }: RefundTaskDeps): Promise<void> {
  const [, by = 'unknown', reason = ''] = /^by ([^:]+): (.*)$/s.exec(entry.note ?? '') ?? [];
  const act: TaskActionRecord = {
    id: refundActId,
    at: entry.at,
    by,
    action: 'refund',
    reason,
    detail: `${formatAmount(entry.amount, currency())} is refunded.`,
  };
  await recordSeen(task, act, tasks);
}

/** Clears the task's concern, because an operator has now dealt with the task. */
export async function recordSeen(
  { id, concern }: Task,
  act: TaskActionRecord,
  tasks: RefundTaskDeps['tasks'],
): Promise<void> {
  await tasks.step(id, { kind: 'acted' }, act);
  if (concern !== undefined) await tasks.withdrawConcern(id, concern);
}

export function refused(message: string): GatewayError {
  return new GatewayError('action_not_possible', message);
}

function refusedAsDone({ amount, note }: LedgerEntry, currency: string): GatewayError {
  const whose = note === undefined ? '' : ` ${note}`;
  return refused(`The task has been refunded already: ${formatAmount(amount, currency)}${whose}`);
}

function refusedAsTooMuch(charged: Micros, currency: string): GatewayError {
  return refused(`The task was charged ${formatAmount(charged, currency)}; a refund cannot exceed that.`);
}
