import { Buffer } from 'node:buffer';
import { sumBilled, widened, type AmountRange, type Billed } from '../money/bill.ts';
import { consideredMax, createProposals } from '../money/bill-candidates.ts';
import type { KnownAmounts, Unclaimed } from '../money/bill-candidates.ts';
import { defined } from '../base/defined.ts';
import { makeTemporaryDirectory, removeTemporaryDirectory } from '../process/temporary-directories.ts';
import { limitDays } from './limit-days.ts';
import type { OwnAttempts, Period } from './own-attempts.ts';
import { linesWithin, type BillLine, type Span } from './read-lines.ts';
import { billedSchema, bothRow, oursOnlyRow, ownAttemptSchema, upstreamOnlyRow } from './rows.ts';
import type { OwnAttempt, ReportRow } from './rows.ts';
import { createDiskSorter, type DiskSorter } from './sort-on-disk.ts';

/** If `from` or `to` is undefined, the bill's first or last day (UTC) is used. */
export interface Reconciling extends Span {
  readonly lines: AsyncIterable<BillLine>;
  readonly channels: readonly string[];
  readonly own: OwnAttempts;
  readonly daysMax?: number;
  readonly onRow: (row: ReportRow) => Promise<void> | void;
}

export interface Read {
  readonly period: Period;
  readonly lines: number;
  /** `skipped` counts lines without an amount, and `outside` counts lines outside the period. */
  readonly skipped: number;
  readonly outside: number;
}

export interface Reconciled extends Read {
  /**
   * Jobs that are missing from the bill but began before the period or finished after it. A neighbouring period's bill
   * may list them.
   */
  readonly atTheEdge: number;
  readonly hasMoreUnclaimed: boolean;
}

const daySeconds = 86_400;
/** A job within the period may belong to a task created up to three days earlier. */
const taskSeconds = 3 * daySeconds;
const atOnce = { jobs: 500, bytes: 48 * 1024 };
const unclaimedMax = 10_000;
const kindsMax = 10_000;

/**
 * Compares a bill with our records, job by job. Both are sorted on disk and then merged. Rows are ordered by job. Jobs
 * without a task in the period come last.
 */
export async function reconcileJobs(asked: Reconciling): Promise<Reconciled> {
  const directory = await makeTemporaryDirectory('bill');
  try {
    const bill = createDiskSorter({ directory, name: 'bill', schema: billedSchema, keyOf: billKey });
    const read = await readInto(bill, asked);
    limitDays(read.period, asked.daysMax);
    const jobs = createDiskSorter({
      directory,
      name: 'jobs',
      schema: ownAttemptSchema,
      keyOf: ({ job, task }) => JSON.stringify([job, task]),
    });
    const created = { from: read.period.from - taskSeconds, to: read.period.to };
    for (const channel of asked.channels)
      for await (const own of asked.own.jobs(channel, created)) await jobs.add(own);
    const open = createDiskSorter({ directory, name: 'open', schema: billedSchema, keyOf: billKey });
    const known = createKnownAmounts();
    const atTheEdge = await compare({ bill, jobs, open }, read.period, { ...asked, known });
    const nobodys = createDiskSorter({ directory, name: 'nobodys', schema: billedSchema, keyOf: billKey });
    await findElsewhere({ open, nobodys }, { ...asked, known });
    const hasMoreUnclaimed = await propose(nobodys, created, { ...asked, known });
    return { ...read, atTheEdge, hasMoreUnclaimed };
  } finally {
    await removeTemporaryDirectory(directory);
  }
}

const billKey = ({ job, unit }: Billed): string => JSON.stringify([job, unit]);

async function readInto(bill: DiskSorter<Billed>, { lines, from, to }: Reconciling): Promise<Read> {
  const { within, counts } = linesWithin(lines, { from, to });
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for await (const line of within) {
    [first, last] = [Math.min(first, line.at), Math.max(last, line.at)];
    await bill.add(line);
  }
  const dayOf = (at: number): number => Math.floor(at / 1000 / daySeconds) * daySeconds;
  return { period: { from: from ?? dayOf(first), to: to ?? dayOf(last) + daySeconds }, ...counts };
}

interface Known {
  readonly known: ReturnType<typeof createKnownAmounts>;
}

interface Sorted {
  readonly bill: DiskSorter<Billed>;
  readonly jobs: DiskSorter<OwnAttempt>;
  readonly open: DiskSorter<Billed>;
}

async function compare(
  { bill, jobs, open }: Sorted,
  period: Period,
  { onRow, known }: Pick<Reconciling, 'onRow'> & Known,
): Promise<number> {
  const own = jobs.sorted()[Symbol.asyncIterator]();
  let mine = await own.next();
  let last: OwnAttempt | undefined;
  let atTheEdge = 0;

  async function passUntil(isPast: (job: string) => boolean): Promise<void> {
    while (mine.done !== true && !isPast(mine.value.job ?? '')) {
      if (mine.value !== last) await pass(mine.value);
      mine = await own.next();
    }
  }

  async function pass(one: OwnAttempt): Promise<void> {
    if (!shouldBeBilled(one)) return;
    if (isWithin(one, period)) await onRow(oursOnlyRow(one));
    else atTheEdge += 1;
  }

  for await (const billed of summed(bill.sorted())) {
    await passUntil((job) => compareKeys(job, billed.job) >= 0);
    if (mine.done === true || mine.value.job !== billed.job) {
      await open.add(billed);
    } else {
      last = mine.value;
      known.add(last, billed);
      await onRow(bothRow(billed, last));
    }
  }
  await passUntil(() => false);
  return atTheEdge;
}

function compareKeys(one: string, other: string): number {
  const [a, b] = [JSON.stringify([one]), JSON.stringify([other])];
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Returns whether the bill must list the job. It need not list a free one. If the cost is unknown, only a successful
 * job must be listed, because the upstream may not bill for failed ones.
 */
function shouldBeBilled({ expected, status }: OwnAttempt): boolean {
  const [due] = expected;
  return due === undefined ? status === 'succeeded' : /[1-9]/.test(due.amount);
}

function isWithin({ started_at: start, ended_at: end }: OwnAttempt, { from, to }: Period): boolean {
  return start >= from && end !== null && end < to;
}

async function* summed(sorted: AsyncIterable<Billed>): AsyncGenerator<Billed> {
  let sum: Billed | undefined;
  for await (const line of sorted) {
    if (sum !== undefined && billKey(sum) === billKey(line)) sum = sumBilled(sum, line);
    else {
      if (sum !== undefined) yield sum;
      sum = line;
    }
  }
  if (sum !== undefined) yield sum;
}

interface Left {
  readonly open: DiskSorter<Billed>;
  readonly nobodys: DiskSorter<Billed>;
}

async function findElsewhere(
  { open, nobodys }: Left,
  { channels, own, onRow, known }: Pick<Reconciling, 'channels' | 'own' | 'onRow'> & Known,
): Promise<void> {
  for await (const chunk of chunksOf(open.sorted())) {
    const jobs = [...new Set(chunk.map(({ job }) => job))].filter((job) => job !== '');
    const asked = jobs.length === 0 ? [] : channels;
    const attempts = await Promise.all(asked.map((channel) => own.find(channel, jobs)));
    const found = new Map(attempts.flat().map((one) => [one.job, one]));
    for (const billed of chunk) {
      const one = found.get(billed.job);
      if (one === undefined) await nobodys.add(billed);
      else {
        known.add(one, billed);
        await onRow(bothRow(billed, one));
      }
    }
  }
}

async function propose(
  nobodys: DiskSorter<Billed>,
  created: Period,
  { onRow, known, ...asked }: Pick<Reconciling, 'channels' | 'own' | 'onRow'> & Known,
): Promise<boolean> {
  let read: Awaited<ReturnType<typeof readUnclaimed>> | undefined;
  let proposals: ReturnType<typeof createProposals> | undefined;
  for await (const billed of nobodys.sorted()) {
    read ??= await readUnclaimed(created, asked);
    proposals ??= createProposals(read.attempts, known.of);
    await onRow(upstreamOnlyRow(billed, proposals(billed)));
  }
  return read !== undefined && (read.hasMore || read.attempts.length > consideredMax);
}

async function readUnclaimed(created: Period, { channels, own }: Pick<Reconciling, 'channels' | 'own'>) {
  const attempts: Unclaimed[] = [];
  for (const channel of channels) {
    for await (const one of own.unclaimed(channel, created)) {
      if (attempts.length === unclaimedMax) return { attempts, hasMore: true };
      attempts.push(unclaimedOf(one));
    }
  }
  return { attempts, hasMore: false };
}

function unclaimedOf(one: OwnAttempt): Unclaimed {
  const { task, attempt, channel, account, model, output, state, adoptable } = one;
  const optional = { upstreamModel: one.upstream_model ?? undefined, strayJob: one.stray_job ?? undefined };
  const startedAt = one.started_at * 1000;
  return {
    task,
    attempt,
    channel,
    account,
    model,
    output,
    state,
    adoptable,
    startedAt,
    ...defined(optional),
  };
}

function createKnownAmounts() {
  const ranges = new Map<string, AmountRange>();
  const keyOf = ({ model, output }: Parameters<KnownAmounts>[0], unit: string) =>
    JSON.stringify([model, output, unit]);
  const of: KnownAmounts = (attempt, unit) => ranges.get(keyOf(attempt, unit));
  return {
    of,
    add(own: OwnAttempt, { unit, amount }: Billed): void {
      const key = keyOf(own, unit);
      if (ranges.has(key) || ranges.size < kindsMax) ranges.set(key, widened(ranges.get(key), amount));
    },
  };
}

async function* chunksOf(lines: AsyncIterable<Billed>): AsyncGenerator<Billed[]> {
  let [chunk, bytes]: [Billed[], number] = [[], 0];
  for await (const line of lines) {
    const more = Buffer.byteLength(JSON.stringify(line.job)) + 1;
    if (chunk.length === atOnce.jobs || bytes + more > atOnce.bytes) {
      yield chunk;
      [chunk, bytes] = [[], 0];
    }
    chunk.push(line);
    bytes += more;
  }
  if (chunk.length > 0) yield chunk;
}
