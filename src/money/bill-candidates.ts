import { isWithin, type AmountRange, type Billed } from './bill.ts';

export interface Unclaimed {
  readonly task: string;
  readonly attempt: number;
  readonly channel: string;
  readonly account: string;
  readonly model: string;
  readonly output: string;
  readonly upstreamModel?: string | undefined;
  readonly state: string;
  /** True if the task is waiting for an operator to assign its job. */
  readonly adoptable: boolean;
  /** A job that the upstream reported only after the task had continued without it. */
  readonly strayJob?: string | undefined;
  readonly startedAt: number;
}

export interface Candidate {
  readonly task: string;
  readonly attempt: number;
  readonly channel: string;
  readonly account: string;
  readonly model: string;
  readonly state: string;
  readonly adoptable: boolean;
  readonly why: readonly string[];
}

export interface Proposal {
  readonly candidates: readonly Candidate[];
  readonly hasMore: boolean;
}

export type KnownAmounts = (
  attempt: Pick<Unclaimed, 'model' | 'output'>,
  unit: string,
) => AmountRange | undefined;

const candidatesMax = 3;
/** The maximum number of attempts that are considered per bill line, most recent first. */
export const consideredMax = 1_000;
/** Used if the bill states when a job began. An attempt may have started this much later, because clocks differ. */
const earlyMs = 10 * 60_000;
/** Used if the bill states when a job finished. An attempt may have started this much earlier. */
const lateMs = 24 * 3_600_000;

/**
 * Proposes attempts for a billed job that no task has. It matches by the job's id or, failing that, by time, model and
 * amount. A fact that contradicts the bill excludes an attempt. A fact that only one side has is ignored.
 */
export function createProposals(attempts: readonly Unclaimed[], known: KnownAmounts) {
  const byStart = attempts.toSorted((a, b) => a.startedAt - b.startedAt || compare(a, b));
  const strays = new Map(
    attempts.flatMap((one) => (one.strayJob === undefined ? [] : [[one.strayJob, one] as const])),
  );

  return (billed: Billed): Proposal => {
    if (billed.job === '') return { candidates: [], hasMore: false };
    const stray = strays.get(billed.job);
    if (stray !== undefined) {
      const why = ['The upstream returned the id of this job after the task had continued without it.'];
      return { candidates: [candidate(stray, why)], hasMore: false };
    }
    const fitting = nearest(byStart, billed).flatMap((one) => fit(one, billed, known) ?? []);
    const candidates = fitting
      .toSorted(
        (a, b) => Number(b.isPriced) - Number(a.isPriced) || a.awayMs - b.awayMs || compare(a.one, b.one),
      )
      .slice(0, candidatesMax)
      .map(({ one, why }) => candidate(one, why));
    return { candidates, hasMore: fitting.length > candidatesMax };
  };
}

function nearest(byStart: readonly Unclaimed[], { at, spanMs }: Billed): readonly Unclaimed[] {
  const from = indexOf(byStart, at - lateMs);
  const to = indexOf(byStart, at + spanMs + earlyMs + 1);
  return byStart.slice(Math.max(from, to - consideredMax), to);
}

function indexOf(byStart: readonly Unclaimed[], time: number): number {
  let [low, high] = [0, byStart.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((byStart[middle]?.startedAt ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function fit(one: Unclaimed, billed: Billed, known: KnownAmounts) {
  const { upstreamModel, startedAt } = one;
  const isOtherModel =
    billed.model !== undefined && upstreamModel !== undefined && billed.model !== upstreamModel;
  const range = known(one, billed.unit);
  if (isOtherModel || (range !== undefined && !isWithin(range, billed.amount))) return undefined;
  const isSameModel = billed.model !== undefined && upstreamModel !== undefined;
  const awayMs = Math.max(startedAt - billed.at - billed.spanMs, billed.at - startedAt, 0);
  const why = [
    timeWords(one, billed),
    ...(isSameModel ? [`The model is the same: ${billed.model}.`] : []),
    ...(range === undefined ? [] : [amountWords(one, range, billed.unit)]),
  ];
  return { one, awayMs, isPriced: range !== undefined, why };
}

function timeWords({ startedAt }: Unclaimed, { at, spanMs }: Billed): string {
  if (spanMs > 0) return 'The attempt began on the day of the bill’s line, or on the day before.';
  const seconds = Math.round(Math.abs(at - startedAt) / 1000);
  return `The attempt began ${seconds} s ${startedAt <= at ? 'before' : 'after'} the time in the bill.`;
}

function amountWords({ model, output }: Unclaimed, { min, max }: AmountRange, unit: string): string {
  const range = min === max ? min : `${min} to ${max}`;
  return `Other jobs of ${model} (${output}) are billed ${range} ${unit}.`;
}

function candidate(
  { task, attempt, channel, account, model, state, adoptable }: Unclaimed,
  why: readonly string[],
): Candidate {
  return { task, attempt, channel, account, model, state, adoptable, why };
}

function compare(one: Unclaimed, other: Unclaimed): number {
  if (one.task !== other.task) return one.task < other.task ? -1 : 1;
  return one.attempt - other.attempt;
}
