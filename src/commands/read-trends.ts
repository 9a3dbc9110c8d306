import { createSharedRead } from '../base/shared-read.ts';
import { hourMs, utcDay } from '../base/times.ts';
import type { Rollup, RollupStore } from '../store/rollups.ts';
import type { Stores } from '../store/stores.ts';
import { addFlows } from '../task/flow.ts';
import type { Flow, FlowsAsked, TrendSpan } from '../task/flow.ts';

export interface Trends {
  /** The beginnings of all steps, oldest first, in Unix milliseconds. */
  readonly steps: readonly number[];
  readonly stepMs: number;
  /** One for each step, channel and model that has any. */
  readonly flows: readonly Flow[];
  /** Unfinished tasks when they were read. */
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

/** However many operators look, each span is read once in this time. */
const sharedMs = 20_000;
/** An hour that was read this long after its end does not change. */
const settledMs = 48 * hourMs;
/** An hour that ended some time ago is read again after a fourth of that time. */
const staleShare = 1 / 4;

/** The steps of a span are those that have begun, the current one last. Hours come from rollups, which are renewed here. */
export function createReadTrends(deps: TrendsDeps): ReadTrends {
  const shared = (span: TrendSpan) =>
    createSharedRead(() => readSpan(span, deps), { ms: sharedMs, now: deps.now });
  const reads = { hour: shared('hour'), day: shared('day'), week: shared('week') };
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

async function readHours(hours: readonly number[], deps: TrendsDeps): Promise<Flow[]> {
  const [first = 0] = hours;
  const readAt = deps.now();
  const kept = await deps.rollups.list(first, (hours.at(-1) ?? 0) + hourMs);
  const fresh = kept.filter((rollup) => isFresh(rollup, readAt));
  const known = new Set(fresh.map(({ at }) => at));
  const missing = hours.filter((hour) => !known.has(hour));
  const read = await readSteps(missing, { ...deps, stepMs: hourMs });
  for (const at of missing) {
    await deps.rollups.put({ at, readAt, flows: read.filter((flow) => flow.at === at) });
  }
  return [...fresh.flatMap(({ flows }) => flows), ...read];
}

/** A time that lies ahead was written by another clock. */
function isFresh({ at, readAt }: Rollup, now: number): boolean {
  const ageMs = now - readAt;
  const afterMs = readAt - (at + hourMs);
  return ageMs >= 0 && (afterMs >= settledMs || ageMs < Math.max(sharedMs, afterMs * staleShare));
}

/** These steps from the records and the ledger, a day after the other. */
async function readSteps(
  steps: readonly number[],
  { tasks, ledgerFlows, stepMs }: TrendsDeps & { readonly stepMs: number },
): Promise<Flow[]> {
  const found: Flow[] = [];
  for (const { from, before } of runsOf(steps, stepMs)) {
    const asked = { from, before, stepMs };
    found.push(...(await tasks.flows(asked)), ...(await ledgerFlows(asked)));
  }
  const sums = addFlows(found, ({ at, channel, model }) => JSON.stringify([at, channel, model]));
  return [...sums.values()];
}

/** Consecutive steps of one day, together. */
function runsOf(steps: readonly number[], stepMs: number): { from: number; before: number }[] {
  const runs: { from: number; before: number }[] = [];
  for (const at of steps) {
    const run = runs.at(-1);
    if (run?.before === at && utcDay(run.from) === utcDay(at)) run.before += stepMs;
    else runs.push({ from: at, before: at + stepMs });
  }
  return runs;
}
