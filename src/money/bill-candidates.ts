import { isWithin } from './bill.ts';
import type { AmountRange, Billed } from './bill.ts';

/** An attempt of which it is not known whether its upstream has a job. Times in Unix milliseconds. */
export interface Unclaimed {
  readonly task: string;
  readonly attempt: number;
  readonly channel: string;
  readonly account: string;
  readonly model: string;
  /** What decides how long it renders: jobs that are alike in it and in their model cost alike. */
  readonly output: string;
  /** The vendor's name of the model; undefined: the configuration has it no more. */
  readonly upstreamModel?: string | undefined;
  /** `lost`, `abandoned`. */
  readonly state: string;
  /** A job that turned up after the task had continued without it. */
  readonly strayJob?: string | undefined;
  readonly startedAt: number;
}

/** An attempt that may have made the job of a line, for a person to decide. */
export interface Candidate {
  readonly task: string;
  readonly attempt: number;
  readonly channel: string;
  readonly account: string;
  readonly model: string;
  readonly state: string;
  /** What speaks for it, as sentences. */
  readonly why: readonly string[];
}

/** What jobs of a model and an output are billed; `undefined`: the bill has none that is ours. */
export type KnownAmounts = (
  attempt: Pick<Unclaimed, 'model' | 'output'>,
  unit: string,
) => AmountRange | undefined;

const candidatesMax = 3;
/** Of the attempts that began nearest to the line. */
const consideredMax = 1_000;
/** Two clocks, and a bill that says when a job began. */
const earlyMs = 10 * 60_000;
/** A bill may say when a job ended. */
const lateMs = 24 * 3_600_000;

/**
 * Finds the attempts that fit a job that no task has: by its id, or by channel, time, model and amount. What the bill
 * names otherwise does not fit; what one of both does not say speaks neither for nor against.
 */
export function createProposals(attempts: readonly Unclaimed[], known: KnownAmounts) {
  const byStart = attempts.toSorted((a, b) => a.startedAt - b.startedAt || compare(a, b));
  const strays = new Map(
    attempts.flatMap((one) => (one.strayJob === undefined ? [] : [[one.strayJob, one] as const])),
  );

  return (billed: Billed): Candidate[] => {
    if (billed.job === '') return [];
    const stray = strays.get(billed.job);
    if (stray !== undefined) {
      return [candidate(stray, ['The upstream named this job after the task had continued without it.'])];
    }
    const fitting = nearest(byStart, billed).flatMap((one) => fit(one, billed, known) ?? []);
    return fitting
      .toSorted(
        (a, b) => Number(b.isPriced) - Number(a.isPriced) || a.awayMs - b.awayMs || compare(a.one, b.one),
      )
      .slice(0, candidatesMax)
      .map(({ one, why }) => candidate(one, why));
  };
}

function nearest(byStart: readonly Unclaimed[], { at, spanMs }: Billed): readonly Unclaimed[] {
  const from = indexOf(byStart, at - lateMs);
  const to = indexOf(byStart, at + spanMs + earlyMs + 1);
  return byStart.slice(Math.max(from, to - consideredMax), to);
}

/** Of the first attempt that did not begin before this time. */
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
  if (spanMs > 0) return 'It began on the day of the bill’s line, or on the day before.';
  const seconds = Math.round(Math.abs(at - startedAt) / 1000);
  return `It began ${seconds} s ${startedAt <= at ? 'before' : 'after'} the time in the bill.`;
}

function amountWords({ model, output }: Unclaimed, { min, max }: AmountRange, unit: string): string {
  const range = min === max ? min : `${min} to ${max}`;
  return `Other jobs of ${model} (${output}) are billed ${range} ${unit}.`;
}

function candidate(
  { task, attempt, channel, account, model, state }: Unclaimed,
  why: readonly string[],
): Candidate {
  return { task, attempt, channel, account, model, state, why };
}

function compare(one: Unclaimed, other: Unclaimed): number {
  if (one.task !== other.task) return one.task < other.task ? -1 : 1;
  return one.attempt - other.attempt;
}
