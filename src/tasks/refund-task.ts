import { GatewayError } from '../domain/errors.ts';
import { formatAmount, parseMicros } from '../domain/money.ts';
import type { Micros } from '../domain/money.ts';
import type { ActionInput, ActionResult } from '../domain/operator-actions.ts';
import { isTerminal } from '../domain/task.ts';
import type { Task, TaskActionRecord } from '../domain/task-record.ts';
import type { LedgerEntry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { TaskStore } from '../store/tasks.ts';

export interface RefundTaskDeps {
  readonly tasks: Pick<TaskStore, 'step'>;
  readonly ledger: Pick<Ledger, 'refund' | 'entriesOfTask'>;
  /** Of the configuration in force. */
  readonly currency: () => string;
}

export interface TaskRefund {
  readonly task: Task;
  readonly input: ActionInput;
}

/**
 * Gives back what a task was charged, or a part of it, once. The ledger decides: of all who ask, one has the entry, and
 * its note says who and why. The act on the task's record is made of that entry, whoever writes it: after a crash
 * between the two, the next one who asks writes the act that is missing, and is refused.
 */
export async function refundTask({ task, input }: TaskRefund, deps: RefundTaskDeps): Promise<ActionResult> {
  const { ledger, currency } = deps;
  const { by, reason, dry_run: dryRun = false } = input;
  if (!isTerminal(task.status)) throw refused('Only a task that has ended can be refunded.');
  const entries = await ledger.entriesOfTask(task.id);
  const earlier = entries.find(({ kind }) => kind === 'refund');
  if (earlier !== undefined) {
    if (!dryRun) await record(earlier, task, deps);
    throw refusedAsDone(earlier, currency());
  }
  const settle = entries.find(({ kind }) => kind === 'settle');
  const charged = settle === undefined ? 0n : settle.amount + (settle.excess ?? 0n);
  if (charged === 0n) throw refused(`The task has ${task.status}, and nothing was charged for it.`);
  const amount = input.amount === undefined ? charged : (parseMicros(input.amount) ?? 0n);
  if (amount > charged) throw refusedAsTooMuch(charged, currency());
  if (!dryRun) {
    const note = `by ${by}: ${reason}`;
    const done = await ledger.refund({ account: task.account, task: task.id, amount, note });
    if (!done.ok) {
      throw refusedAsTooMuch(done.refused === 'above_charge' ? done.charged : 0n, currency());
    }
    await record(done.entry, task, deps);
    // Another was first; or it was our own write, whose answer was lost.
    const isOurs = done.entry.note === note && done.entry.amount === amount;
    if (done.replayed && !isOurs) throw refusedAsDone(done.entry, currency());
  }
  const said = {
    task: `The task stays ${task.status}.`,
    money: `${formatAmount(amount, currency())} is given back to the account ${task.account}; ${formatAmount(charged, currency())} was charged.`,
  };
  return dryRun ? { would: said } : { did: said };
}

/** A task is refunded once: its act has this id. */
const refundActId = 'refund';

async function record(entry: LedgerEntry, task: Task, { tasks, currency }: RefundTaskDeps): Promise<void> {
  const [, by = 'unknown', reason = ''] = /^by ([^:]+): (.*)$/s.exec(entry.note ?? '') ?? [];
  const act: TaskActionRecord = {
    id: refundActId,
    at: entry.at,
    by,
    action: 'refund',
    reason,
    detail: `${formatAmount(entry.amount, currency())} is given back.`,
  };
  await tasks.step(task.id, { kind: 'acted' }, act);
}

function refused(message: string): GatewayError {
  return new GatewayError('action_not_possible', message);
}

function refusedAsDone({ amount, note }: LedgerEntry, currency: string): GatewayError {
  const whose = note === undefined ? '' : ` ${note}`;
  return refused(`The task has been refunded already: ${formatAmount(amount, currency)}${whose}`);
}

function refusedAsTooMuch(charged: Micros, currency: string): GatewayError {
  return refused(`The task was charged ${formatAmount(charged, currency)}; a refund cannot exceed that.`);
}
