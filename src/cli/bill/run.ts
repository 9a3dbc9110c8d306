import { defined } from '../../base/defined.ts';
import { isoSeconds } from '../../base/times.ts';
import type { BillFormat } from '../../providers/provider.ts';
import type { Session } from '../context.ts';
import type { Output } from '../output.ts';
import { createOwnAttempts } from './own-attempts.ts';
import { readBill } from './read-lines.ts';
import { reconcileDays } from './reconcile-days.ts';
import { reconcileJobs } from './reconcile-jobs.ts';
import type { Read, Reconciled } from './reconcile-jobs.ts';
import { openReport } from './report.ts';
import type { ReportRow } from './rows.ts';
import { createTotals } from './totals.ts';
import type { Total } from './totals.ts';

export interface Asked {
  /** A file. */
  readonly bill: string;
  readonly format: BillFormat;
  readonly channels: readonly string[];
  /** What the bill calls a model, and what the vendor's API does. */
  readonly models: ReadonlyMap<string, string>;
  /** Unix seconds. */
  readonly from?: number;
  readonly to?: number;
  /** Each row is printed as it comes. */
  readonly isStreamed: boolean;
  /** A file for all rows. */
  readonly csv?: string;
}

/** Compares, and prints the report; whether all of it is in order. Throws CommandError. */
export async function runReconciliation(
  { bill, format, isStreamed, csv, ...asked }: Asked,
  { client, output }: Session,
): Promise<boolean> {
  const report = await openReport({ output, isStreamed, csv });
  const totals = createTotals();
  try {
    const reconciling = {
      ...asked,
      lines: readBill(bill, format),
      own: createOwnAttempts(client),
      onRow: async (row: ReportRow) => {
        totals.add(row);
        await report.add(row);
      },
    };
    const { utcOffsetHours = 0, columns } = format;
    const isByJob = columns.job !== undefined;
    const done = isByJob
      ? await reconcileJobs(reconciling)
      : await reconcileDays({ ...reconciling, utcOffsetHours });
    await report.complete();
    const [isInOrder, sums] = [totals.isInOrder(), totals.list()];
    const summary = { by: isByJob ? 'job' : 'day', ...summaryOf(done), in_order: isInOrder, totals: sums };
    if (isStreamed) output.item(summary);
    else if (output.isJson) output.item({ ...summary, rows: report.shown, has_more: report.hasMore() });
    else showReport({ rows: report.shown, hasMore: report.hasMore(), totals: sums, done }, output);
    return isInOrder;
  } finally {
    await report.close();
  }
}

type Done = Read & Partial<Reconciled>;

function summaryOf({ period, lines, skipped, outside, atTheEdge, hasMoreUnclaimed }: Done) {
  return {
    from: period.from,
    to: period.to,
    lines,
    lines_without_amount: skipped,
    lines_outside: outside,
    ...defined({ at_the_edge: atTheEdge, has_more_unclaimed: hasMoreUnclaimed }),
  };
}

interface Shown {
  readonly rows: readonly ReportRow[];
  readonly hasMore: boolean;
  readonly totals: readonly Total[];
  readonly done: Done;
}

function showReport({ rows, hasMore, totals, done }: Shown, output: Output): void {
  const isByJob = done.atTheEdge !== undefined;
  const where = isByJob ? ['job', 'task'] : ['at', 'model', 'tasks', 'cost_unknown'];
  if (rows.length > 0) {
    output.rows(
      rows.map((row) => ({ ...row, at: row.at === null ? null : isoSeconds(row.at * 1000) })),
      {
        columns: ['result', ...where, 'unit', 'billed', 'expected', 'difference'],
        more: isByJob ? ['channel', 'attempt', 'account', 'model', 'at', 'lines'] : ['lines'],
      },
    );
  }
  for (const { job, candidates } of rows) {
    for (const { task, attempt, state, why } of candidates)
      output.note(`${job} may be of ${task} (attempt ${attempt}, ${state}): ${why.join(' ')}`);
  }
  if (hasMore) output.note('There are more: --csv and -o jsonl have every row.');
  output.rows(
    totals.map((total) => ({ ...total })),
    { columns: ['result', 'unit', 'rows', 'billed', 'expected'] },
  );
  for (const note of notesOf(done)) output.note(note);
}

function notesOf({ period, lines, skipped, outside, atTheEdge, hasMoreUnclaimed = false }: Done): string[] {
  const time = `${isoSeconds(period.from * 1000)} to ${isoSeconds(period.to * 1000)}`;
  return [
    `${lines} lines; ${skipped} without an amount and ${outside} outside of ${time} were not compared.`,
    ...(atTheEdge === undefined
      ? [
          'The bill names no jobs: sums of a day and a model were compared, and nothing says whose its lines are.',
        ]
      : []),
    ...(atTheEdge === undefined || atTheEdge === 0
      ? []
      : [`${atTheEdge} jobs that began before this time or ended after it are not in this bill.`]),
    ...(hasMoreUnclaimed
      ? ['Only the newest attempts without a job were compared with jobs that no task has.']
      : []),
  ];
}
