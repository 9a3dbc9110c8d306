/** The kinds of operator notices. */
export const noticeKinds = [
  /** Tasks need an operator's attention. */
  'attention',
  /** Callbacks were abandoned because their addresses did not accept them. */
  'callbacks_abandoned',
  /** An upstream credential is not being used. */
  'circuit_open',
  /** An account's balance is below `notify.low_balance`. */
  'low_balance',
  /** A channel's tasks cost more than they earned. */
  'margin_negative',
  /** The vendor has shut down a model that a channel serves. */
  'model_retired',
  /** An upkeep step had to postpone some items. */
  'upkeep_failing',
  /** The database clock has jumped, so no money is written. */
  'clock_jumped',
  /** `ledger verify` found a violation. */
  'ledger_violation',
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

/** The upkeep steps under which processes report that the result storage accepts no files. */
export type StorageStep = 'storage_full' | 'storage_away';

/** A condition that currently holds. */
export interface Condition {
  readonly kind: NoticeKind;
  /** The subject: a configuration name or an account. */
  readonly subject: string;
  /** The number of affected items. Zero if nothing waits for a circuit that is not closed. */
  readonly count: number;
  /** Sentences that describe the problem and its remedy. */
  readonly text: string;
}

/** A condition that holds or has ended. Times are in Unix milliseconds. */
export interface Notice extends Condition {
  /** `<kind>/<subject>` */
  readonly id: string;
  readonly state: 'open' | 'over';
  readonly since: number;
  readonly endedAt?: number;
  /** Incremented by every change that operators should know about. */
  readonly revision: number;
  /** The revision at which the condition most recently began. */
  readonly openedAs: number;
  readonly revisedAt: number;
  /** The number of consecutive checks without the condition. */
  readonly missed: number;
  /** The last revision that each target has received. */
  readonly notified: Readonly<Record<string, number>>;
}

/**
 * A condition ends after this many consecutive checks without finding it. An intermittent condition, such as a circuit
 * that lets single requests through, is therefore reported only once.
 */
const missedMax = 8;
/** The interval between reminders about a lasting condition, in milliseconds. */
const remindAfterMs = 24 * 60 * 60 * 1000;

export function noticeId({ kind, subject }: Pick<Condition, 'kind' | 'subject'>): string {
  return `${kind}/${subject}`;
}

/** Returns the notice after a check that found the condition, or `known` itself if nothing has changed. */
export function sighted(known: Notice | undefined, condition: Condition, now: number): Notice {
  if (known?.state !== 'open') {
    const { revision: last = 0, notified = {} } = known ?? {};
    const revision = last + 1;
    const id = noticeId(condition);
    return {
      ...condition,
      id,
      state: 'open',
      since: now,
      revision,
      openedAs: revision,
      revisedAt: now,
      missed: 0,
      notified,
    };
  }
  const isNews =
    magnitude(condition.count) > magnitude(known.count) || now - known.revisedAt >= remindAfterMs;
  if (isNews) return { ...known, ...condition, missed: 0, revision: known.revision + 1, revisedAt: now };
  const isSame = known.count === condition.count && known.text === condition.text && known.missed === 0;
  // Store the lower count, so that a later rise counts as a change.
  return isSame ? known : { ...known, ...condition, missed: 0 };
}

/** Returns the notice after a check that did not find the condition, or `known` itself if nothing has changed. */
export function missed(known: Notice, now: number): Notice {
  if (known.state === 'over') return known;
  const times = known.missed + 1;
  return times < missedMax ? { ...known, missed: times } : ended(known, now);
}

/** Returns the notice for a condition known to have ended. */
export function ended(known: Notice, now: number): Notice {
  if (known.state === 'over') return known;
  const { id, kind, subject, count, text, since, notified, revision, openedAs } = known;
  const over = { state: 'over', endedAt: now, revision: revision + 1, revisedAt: now, missed: 0 } as const;
  return { id, kind, subject, count, text, since, notified, openedAs, ...over };
}

/** Whether the target should be notified. It is notified of the end only if it was notified of the beginning. */
export function isDue({ state, revision, openedAs, notified }: Notice, target: string): boolean {
  const last = notified[target] ?? 0;
  if (last >= revision) return false;
  return state === 'open' || last >= openedAs;
}

/** Returns the number of digits: 1 for 1 to 9, 2 for 10 to 99. */
function magnitude(count: number): number {
  return String(Math.max(1, Math.trunc(count))).length;
}
