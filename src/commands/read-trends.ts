import { createSharedRead } from '../base/shared-read.ts';
import { hourMs, utcDay } from '../base/times.ts';
import { isOverTime } from '../store/mongo.ts';
import type { Rollup, RollupStore } from '../store/rollups.ts';
import type { Stores } from '../store/stores.ts';
import { addFlows } from '../task/flow.ts';
import type { Flow, FlowsAsked, TrendSpan } from '../task/flow.ts';

export interface Trends {
  /** When each step begins, oldest first, in Unix milliseconds. */
  readonly steps: readonly number[];
  readonly stepMs: number;
  /** One for each step, channel and model with tasks or entries. */
  readonly flows: readonly Flow[];
  /** The number of tasks that were unfinished at the time of the read. */
  readonly unfinished: number;
}

export type ReadTrends = (span: TrendSpan) => Promise<Trends>;

export interface TrendsDeps {
  readonly tasks: Pick<Stores['tasks'], 'flows' | 'countUnfinished'>;
  readonly rollups: Pick<RollupStore, 'list' | 'put'>;
  readonly ledgerFlows: (asked: FlowsAsked) => Promise<Flow[]>;
  readonly now: () => number;
}

const sizes = {
  hour: { stepMs: 5 * 60_000, steps: 12 },
  day: { stepMs: hourMs, steps: 24 },
  week: { stepMs: hourMs, steps: 7 * 24 },
} as const;

/** Each span is read at most once in this time, for all operators together. */
const sharedMs = 20_000;
/** An hour that was read this long after its end is not read again. */
const settledMs = 48 * hourMs;
/** The rollup of an hour is stale after this share of the time between the end of the hour and its read. */
const staleShare = 1 / 4;

/**
 * The steps of a span are those that have begun, the current one last. Hours come from rollups, which are renewed here.
 * All who ask wait for the same read; its queries have limits of their own.
 */
export function createReadTrends(deps: TrendsDeps): ReadTrends {
  const terms = { ms: sharedMs, now: deps.now, hangsAfterMs: Infinity };
  let before: Promise<unknown> = Promise.resolve();
  // The day is part of the week: whichever is read later finds the rollups of the other.
  const afterOther = (span: TrendSpan): Promise<Trends> => {
    const read = before.then(() => readSpan(span, deps));
    before = read.catch(() => undefined);
    return read;
  };
  const reads = {
    hour: createSharedRead(() => readSpan('hour', deps), terms),
    day: createSharedRead(() => afterOther('day'), terms),
    week: createSharedRead(() => afterOther('week'), terms),
  };
  return (span) => reads[span]();
}

async function readSpan(span: TrendSpan, deps: TrendsDeps): Promise<Trends> {
  const { stepMs, steps: count } = sizes[span];
  const last = Math.floor(deps.now() / stepMs) * stepMs;
  const steps = Array.from({ length: count }, (_, n) => last - (count - 1 - n) * stepMs);
  const flows = span === 'hour' ? readSteps(steps, { ...deps, stepMs }) : readHours(steps, deps);
  const [all, unfinished] = await Promise.all([flows, deps.tasks.countUnfinished()]);
  return { steps, stepMs, flows: all, unfinished: unfinished.reduce((sum, row) => sum + row.count, 0) };
}

/** Each part becomes rollups before the next one is read: a read that fails later is continued, and not begun anew. */
async function readHours(hours: readonly number[], deps: TrendsDeps): Promise<Flow[]> {
  const [first = 0] = hours;
  const startedAt = deps.now();
  const kept = await deps.rollups.list(first, (hours.at(-1) ?? 0) + hourMs);
  const fresh = kept.filter((rollup) => isFresh(rollup, startedAt));
  const known = new Set(fresh.map(({ at }) => at));
  const missing = hours.filter((hour) => !known.has(hour));
  const found = fresh.flatMap(({ flows }) => flows);
  for await (const { steps, readAt, flows } of readParts(missing, { ...deps, stepMs: hourMs })) {
    for (const at of steps) {
      await deps.rollups.put({ at, readAt, flows: flows.filter((flow) => flow.at === at) });
    }
    found.push(...flows);
  }
  return found;
}

/** A `readAt` in the future comes from a process with a wrong clock, so the rollup is read again. */
function isFresh({ at, readAt }: Rollup, now: number): boolean {
  const ageMs = now - readAt;
  const afterMs = readAt - (at + hourMs);
  return ageMs >= 0 && (afterMs >= settledMs || ageMs < Math.max(sharedMs, afterMs * staleShare));
}

type PartDeps = TrendsDeps & { readonly stepMs: number };

interface Part {
  readonly steps: readonly number[];
  readonly readAt: number;
  readonly flows: readonly Flow[];
}

async function readSteps(steps: readonly number[], deps: PartDeps): Promise<Flow[]> {
  const found: Flow[] = [];
  for await (const { flows } of readParts(steps, deps)) found.push(...flows);
  return found;
}

/** These steps from the records and the ledger, a day after the other. What takes too long is read in halves, down to a step. */
async function* readParts(steps: readonly number[], deps: PartDeps): AsyncGenerator<Part, void, undefined> {
  const left = runsOf(steps, deps.stepMs);
  for (let run = left.shift(); run !== undefined; run = left.shift()) {
    const readAt = deps.now();
    const flows = await readRun(run, deps);
    if (flows !== undefined) yield { steps: run, readAt, flows };
    else left.unshift(run.slice(0, run.length / 2), run.slice(run.length / 2));
  }
}

/** Undefined: it takes too long, and has more than one step. */
async function readRun(
  run: readonly number[],
  { tasks, ledgerFlows, stepMs }: PartDeps,
): Promise<Flow[] | undefined> {
  const [from = 0] = run;
  const asked = { from, before: from + run.length * stepMs, stepMs };
  try {
    const found = [...(await tasks.flows(asked)), ...(await ledgerFlows(asked))];
    return [...addFlows(found, ({ at, channel, model }) => JSON.stringify([at, channel, model])).values()];
  } catch (error) {
    if (run.length > 1 && isOverTime(error)) return undefined;
    throw error;
  }
}

/** Joins consecutive steps of one UTC day into ranges. */
function runsOf(steps: readonly number[], stepMs: number): number[][] {
  const runs: number[][] = [];
  for (const at of steps) {
    const run = runs.at(-1);
    const last = run?.at(-1) ?? at;
    if (run !== undefined && last + stepMs === at && utcDay(last) === utcDay(at)) run.push(at);
    else runs.push([at]);
  }
  return runs;
}
