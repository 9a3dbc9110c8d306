import { closedAt } from '../money/ledger-basis.ts';
import { isTerminal } from '../task/task.ts';
import { dayMs, hourMs } from '../base/times.ts';
import { keys } from './entry.ts';
import type { AccountCheck, RefundedTask } from './verify-account.ts';
import { violation, type EntryFacts, type Holder, type VerifyContext } from './verify-context.ts';
import { createChunks } from './verify-reading.ts';
import { isBeingCreated, isWithin } from './verify-tasks.ts';

/** The settle precedes its refund in the chain, so it must be read again. */
export async function checkRefunds(context: VerifyContext, refunds: readonly RefundedTask[]): Promise<void> {
  const closes = await context.findEntries(refunds.map(({ task }) => keys.close(task)));
  for (const refund of refunds) {
    const close = closes.get(keys.close(refund.task));
    const fault = refundFault(refund, close);
    if (fault !== undefined) context.report(violation('refunded_within_charge', refund, fault));
  }
}

function refundFault(refund: RefundedTask, close: EntryFacts | undefined): string | undefined {
  if (close?.kind !== 'settle') return `is refunded ${refund.amount}, but was never settled`;
  if (close.account !== refund.account) return `is refunded, but was charged to account ${close.account}`;
  if (close.seq > refund.seq) return 'was refunded before it was settled';
  const charged = closedAt(close);
  return refund.amount > charged ? `was charged ${charged}, but is refunded ${refund.amount}` : undefined;
}

export async function checkWhatIsOpen(
  context: VerifyContext,
  account: string,
  check: AccountCheck,
): Promise<void> {
  const holds = createChunks((chunk: OpenHold[]) => checkOpenHolds(context, account, chunk));
  // A hold of zero reserves nothing, so it need not be released.
  for (const [task, { amount, at }] of check.openHolds) if (amount > 0n) await holds.add({ task, at });
  await holds.end();
  for (const [task, amount] of check.owedExtras) {
    const key = keys.chargeExtra(task);
    if ((await context.findEntries([key])).has(key)) continue;
    const message = `is settled beyond its hold, but the excess of ${amount} was never charged`;
    context.report(violation('settled_in_full', { account, task }, message));
  }
}

interface OpenHold {
  readonly task: string;
  readonly at: number;
}

const heldAloneMaxMs: Readonly<Record<Holder, number>> = {
  creation: hourMs,
  workflow: hourMs,
  lease: dayMs,
};

/** Skips the holds of finished tasks, because those are reported when the task records are checked. */
async function checkOpenHolds(
  context: VerifyContext,
  account: string,
  open: readonly OpenHold[],
): Promise<void> {
  const ids = open.map(({ task }) => task);
  const tasks = await context.findTasks(ids);
  const live = await context.holders(ids);
  const suspects = new Map<string, string>();
  for (const { task, at } of open) {
    const facts = tasks.get(task);
    if (facts !== undefined && isTerminal(facts.status)) continue;
    const isCreating = facts !== undefined && isBeingCreated(facts, context.now());
    const holder = live.get(task) ?? (isCreating ? 'creation' : undefined);
    if (holder === undefined) {
      suspects.set(task, 'has an open hold that no workflow, lease or creation accounts for');
    } else if (facts === undefined && !isWithin(at, context.now(), heldAloneMaxMs[holder])) {
      suspects.set(task, `has an open hold but no record, and has belonged to a ${holder} for too long`);
    } else {
      context.openHolds[holder] += 1;
    }
  }
  const closes = await context.findEntries([...suspects.keys()].map(keys.close));
  for (const [task, message] of suspects) {
    if (closes.has(keys.close(task))) continue;
    context.report(violation('open_hold_is_live', { account, task }, message));
  }
}
