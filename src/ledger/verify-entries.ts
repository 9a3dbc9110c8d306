import { closedAt } from '../money/ledger-basis.ts';
import { isTerminal } from '../task/task.ts';
import { keys } from './entry.ts';
import type { AccountCheck, RefundedTask } from './verify-account.ts';
import { violation } from './verify-context.ts';
import type { EntryFacts, VerifyContext } from './verify-context.ts';
import { createChunks } from './verify-reading.ts';
import type { TaskFacts } from './verify-records.ts';

/** A settle comes before its refund, so that a ledger that is read later has it. */
export async function checkRefunds(context: VerifyContext, refunds: readonly RefundedTask[]): Promise<void> {
  const closes = await context.findEntries(refunds.map(({ task }) => keys.close(task)));
  for (const refund of refunds) {
    const close = closes.get(keys.close(refund.task));
    const fault = refundFault(refund, close);
    if (fault !== undefined) context.report(violation('refunded_within_charge', refund, fault));
  }
}

function refundFault(refund: RefundedTask, close: EntryFacts | undefined): string | undefined {
  if (close?.kind !== 'settle') return `is refunded ${refund.amount}, and was never settled`;
  if (close.account !== refund.account) return `is refunded, and was charged to account ${close.account}`;
  if (close.seq > refund.seq) return 'was refunded before it was settled';
  const charged = closedAt(close);
  return refund.amount > charged ? `was charged ${charged}, and is refunded ${refund.amount}` : undefined;
}

/**
 * Holds without a close, and settles whose excess was not charged. Both may have been completed since they were read.
 */
export async function checkWhatIsOpen(
  context: VerifyContext,
  account: string,
  check: AccountCheck,
): Promise<void> {
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

async function checkOpenHolds(
  context: VerifyContext,
  account: string,
  open: readonly string[],
): Promise<void> {
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
