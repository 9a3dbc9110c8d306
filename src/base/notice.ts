/** What operators are notified of. */
export const noticeKinds = [
  /** Tasks wait for a person. */
  'attention',
  /** Callbacks that no caller's address took. */
  'callbacks_abandoned',
  /** An upstream's credential is not used for now. */
  'circuit_open',
  /** An account has less left than `notify.low_balance`. */
  'low_balance',
  /** Tasks at a channel cost more than they earned. */
  'margin_negative',
  /** The vendor of a model that a channel serves has shut it down. */
  'model_retired',
  /** The time of the database has jumped, and no money is written. */
  'clock_jumped',
  /** `ledger verify` found a violation. */
  'ledger_violation',
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

/** Something that is so at the moment. */
export interface Condition {
  readonly kind: NoticeKind;
  /** What it is about, in names of the configuration, or an account. */
  readonly subject: string;
  /** How many things are concerned. */
  readonly count: number;
  /** What is the case and what to do, in sentences. */
  readonly text: string;
}

/** A condition, or one that has passed. Times in Unix milliseconds. */
export interface Notice extends Condition {
  /** `<kind>/<subject>`. */
  readonly id: string;
  readonly state: 'open' | 'over';
  readonly since: number;
  readonly endedAt?: number;
  /** Rises with everything that operators have to know. */
  readonly revision: number;
  /** The revision with which it began, this time. */
  readonly openedAs: number;
  readonly revisedAt: number;
  /** Looks in a row that did not see it. */
  readonly missed: number;
  /** The revision that each target has. */
  readonly notified: Readonly<Record<string, number>>;
}

/** So that what comes and goes, as a circuit does that lets one request through, is sent once. */
const missedMax = 8;
/** What lasts is repeated. */
const remindAfterMs = 24 * 60 * 60 * 1000;

export function noticeId({ kind, subject }: Pick<Condition, 'kind' | 'subject'>): string {
  return `${kind}/${subject}`;
}

/** The notice after a look that saw the condition; `known` itself when nothing is new. */
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
  // A count that has fallen may grow again.
  return isSame ? known : { ...known, ...condition, missed: 0 };
}

/** The notice after a look that did not see its condition; `known` itself when nothing is new. */
export function missed(known: Notice, now: number): Notice {
  if (known.state === 'over') return known;
  const times = known.missed + 1;
  return times < missedMax ? { ...known, missed: times } : ended(known, now);
}

/** The notice of a condition that is known to have passed. */
export function ended(known: Notice, now: number): Notice {
  if (known.state === 'over') return known;
  const { id, kind, subject, count, text, since, notified, revision, openedAs } = known;
  const over = { state: 'over', endedAt: now, revision: revision + 1, revisedAt: now, missed: 0 } as const;
  return { id, kind, subject, count, text, since, notified, openedAs, ...over };
}

/** Whether the target is to be notified: of an end only if it knows of the beginning. */
export function isDue({ state, revision, openedAs, notified }: Notice, target: string): boolean {
  const last = notified[target] ?? 0;
  if (last >= revision) return false;
  return state === 'open' || last >= openedAs;
}

/** 1 to 9 are 1, 10 to 99 are 2. */
function magnitude(count: number): number {
  return String(Math.max(1, Math.trunc(count))).length;
}
