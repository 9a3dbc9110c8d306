import { defined } from '../base/defined.ts';
import type { Micros } from '../money/money.ts';
import type { Spender } from '../access/spender.ts';
import { attributionOf, keys, type Draft } from './entry.ts';
import type {
  HoldFacts,
  HoldOperation,
  RefundOperation,
  ReleaseOperation,
  SettleOperation,
  VoidOperation,
} from './operation.ts';
import type { Attribution } from './spent.ts';

/** @param spender - `endUser` must already be a pseudonym. */
export function attributionOfSpender({ key, model, endUser }: Partial<Spender>): Attribution {
  return attributionOf({ key_id: key, model, end_user: endUser, day: undefined });
}

/** @param day - The hold and all later entries of its task are counted on this day. */
export function holdDraft({ account, task, by, amount, basis }: HoldOperation, day: string): Draft {
  return {
    account,
    key: keys.hold(task),
    kind: 'hold',
    task,
    ...attributionOfSpender(by),
    day,
    amount,
    available: -amount,
    held: amount,
    basis,
  };
}

export function settleDrafts(operation: SettleOperation, hold: HoldFacts): Draft[] {
  const { account, task, held, amount, basis, note, upstream } = operation;
  const fromHold = amount < held ? amount : held;
  const excess = amount - fromHold;
  const settle: Draft = {
    account,
    key: keys.close(task),
    kind: 'settle',
    task,
    ...attributionOf(hold),
    amount: fromHold,
    available: held - fromHold,
    held: -held,
    ...(excess === 0n ? {} : { excess }),
    ...defined({ basis, note, upstream }),
  };
  return excess === 0n ? [settle] : [settle, extraDraft({ ...hold, task }, excess)];
}

export function extraDraft(of: HoldFacts & { readonly task: string }, amount: Micros): Draft {
  const { account, task } = of;
  return {
    account,
    key: keys.chargeExtra(task),
    kind: 'charge_extra',
    task,
    ...attributionOf(of),
    amount,
    available: -amount,
    held: 0n,
  };
}

export function releaseDraft(
  { account, task, note, upstream }: Pick<ReleaseOperation, 'account' | 'task' | 'note' | 'upstream'>,
  hold: HoldFacts,
): Draft {
  return {
    account,
    key: keys.close(task),
    kind: 'release',
    task,
    ...attributionOf(hold),
    amount: hold.amount,
    available: hold.amount,
    held: -hold.amount,
    ...defined({ note, upstream }),
  };
}

export function voidDraft({ account, task, note }: VoidOperation): Draft {
  const nothing = { amount: 0n, available: 0n, held: 0n };
  return { account, key: keys.hold(task), kind: 'void', task, ...nothing, ...defined({ note }) };
}

export function refundDraft(
  { account, task, amount, note, upstream }: RefundOperation,
  settle: HoldFacts,
): Draft {
  return {
    account,
    key: keys.refund(task),
    kind: 'refund',
    task,
    ...attributionOf(settle),
    amount,
    available: amount,
    held: 0n,
    ...defined({ note, upstream }),
  };
}
