export const noticeKinds = [
  'attention',
  'callbacks_abandoned',
  'circuit_open',
  'low_balance',
  'margin_negative',
  'model_retired',
  'upkeep_failing',
  'clock_jumped',
  'ledger_violation',
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

/** The upkeep steps that fail while the result storage accepts no files. */
export type StorageStep = 'storage_full' | 'storage_away';

export interface Condition {
  readonly kind: NoticeKind;
  readonly subject: string;
  /** How many items are affected. Zero for a circuit that is not closed but has no waiting tasks. */
  readonly count: number;
  readonly text: string;
}

export interface Notice extends Condition {
  /** `<kind>/<subject>` */
  readonly id: string;
  readonly state: 'open' | 'over';
  readonly since: number;
  readonly endedAt?: number;
  /** Incremented by every change that is worth notifying operators about. */
  readonly revision: number;
  /** The revision at which the condition last began. */
  readonly openedAs: number;
  readonly revisedAt: number;
  readonly missed: number;
  readonly notified: Readonly<Record<string, number>>;
}

/**
 * A condition is over after this many consecutive checks without it. An intermittent condition, such as a circuit that
 * lets single requests through, is therefore reported only once.
 */
const missedMax = 8;
const remindAfterMs = 24 * 60 * 60 * 1000;

export function noticeId({ kind, subject }: Pick<Condition, 'kind' | 'subject'>): string {
  return `${kind}/${subject}`;
}

/** Call this if a check found the condition. Returns `known` itself if nothing has changed. */
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
  // Store a lower count too, so that a later rise is recognised as a change.
  return isSame ? known : { ...known, ...condition, missed: 0 };
}

/** Call this if a check did not find the condition. Returns `known` itself if nothing has changed. */
export function missed(known: Notice, now: number): Notice {
  if (known.state === 'over') return known;
  const times = known.missed + 1;
  return times < missedMax ? { ...known, missed: times } : ended(known, now);
}

export function ended(known: Notice, now: number): Notice {
  if (known.state === 'over') return known;
  const { id, kind, subject, count, text, since, notified, revision, openedAs } = known;
  const over = { state: 'over', endedAt: now, revision: revision + 1, revisedAt: now, missed: 0 } as const;
  return { id, kind, subject, count, text, since, notified, openedAs, ...over };
}

/** A target is notified of a condition's end only if it was notified of the beginning. */
export function isDue({ state, revision, openedAs, notified }: Notice, target: string): boolean {
  const last = notified[target] ?? 0;
  if (last >= revision) return false;
  return state === 'open' || last >= openedAs;
}

function magnitude(count: number): number {
  return String(Math.max(1, Math.trunc(count))).length;
}
