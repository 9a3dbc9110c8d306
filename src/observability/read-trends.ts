import { createSharedRead } from '../base/shared-read.ts';
import { hourMs, utcDay } from '../base/times.ts';
import { walk } from '../base/walk.ts';
import { isOverTime } from '../store/mongo.ts';
import type { Rollup, RollupStore } from '../store/rollups.ts';
import type { Stores } from '../store/stores.ts';
import { addFlows, type Flow, type FlowsAsked, type TrendSpan } from '../reports/flow.ts';

export interface Trends {
  readonly steps: readonly number[];
  readonly stepMs: number;
  readonly flows: readonly Flow[];
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

/** Each time span is read at most this often. All operators share the result. */
const sharedMs = 20_000;
/** Once an hour has been read at least this long after its end, it is final and is not read again. */
const settledMs = 48 * hourMs;
/** The read stops after this many failures, because splitting it further is unlikely to help. */
const failuresMax = 3;
/** A rollup is stale when its age exceeds this fraction of the time that had passed since its hour ended. */
const staleShare = 1 / 4;

/**
 * Hourly figures come from rollups, which the returned function refreshes. Concurrent callers share one read, and its
 * queries have time limits.
 */
export function createReadTrends(deps: TrendsDeps): ReadTrends {
  const terms = { ms: sharedMs, now: deps.now, hangsAfterMs: Infinity };
  let before: Promise<unknown> = Promise.resolve();
  // The week includes the day, so reading them one after the other lets the second read use the first one's rollups.
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

/** Writes each part's rollups before reading the next part, so that a failed read can be resumed. */
async function readHours(hours: readonly number[], deps: TrendsDeps): Promise<Flow[]> {
  const [first = 0] = hours;
  const startedAt = deps.now();
  const kept = await deps.rollups.list(first, (hours.at(-1) ?? 0) + hourMs);
  const fresh = kept.filter((rollup) => isFresh(rollup, startedAt));
  const known = new Set(fresh.map(({ at }) => at));
  const missing = hours.filter((hour) => !known.has(hour));
  const found = fresh.flatMap(({ flows }) => flows);
  await eachPart(missing, { ...deps, stepMs: hourMs }, async ({ steps, readAt, flows }) => {
    await deps.rollups.put(
      steps.map((at) => ({ at, readAt, flows: flows.filter((flow) => flow.at === at) })),
    );
    found.push(...flows);
  });
  return found;
}

/** If `readAt` is in the future, another process with a wrong clock wrote it, so that hour is read again. */
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
  await eachPart(steps, deps, async ({ flows }) => void found.push(...flows));
  return found;
}

/**
 * Reads the tasks and the ledger day by day. A part that takes too long is split in half, if necessary down to single
 * steps. If one part fails, the others are still read, and the error is thrown at the end.
 */
async function eachPart(
  steps: readonly number[],
  deps: PartDeps,
  take: (part: Part) => Promise<void>,
): Promise<void> {
  const left = runsOf(steps, deps.stepMs);
  const errors: unknown[] = [];
  await walk(shifted(left), {
    loop: 'hours of trends',
    isOver: () => errors.length >= failuresMax,
    async run(part) {
      const readAt = deps.now();
      const flows = await readRun(part, deps);
      if (flows === undefined) left.unshift(part.slice(0, part.length / 2), part.slice(part.length / 2));
      else await take({ steps: part, readAt, flows });
      return flows !== undefined;
    },
    onFailed: (_, error) => errors.push(error),
  });
  if (errors.length > 0) throw errors[0];
}

function* shifted<Item>(list: Item[]): Generator<Item, void, undefined> {
  for (let item = list.shift(); item !== undefined; item = list.shift()) yield item;
}

/** Returns undefined if the read takes too long but can be split. */
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
