import { isoSeconds } from '../base/times.ts';
import type { BillFormat } from '../providers/provider.ts';
import { readBill, type BillFile } from './read-lines.ts';
import { reconcileDays } from './reconcile-days.ts';
import { reconcileJobs, type Read, type Reconciled, type Reconciling } from './reconcile-jobs.ts';
import { createTotals, type Total } from './totals.ts';

export interface BillAsked extends Omit<Reconciling, 'lines'> {
  readonly bill: BillFile;
  readonly format: BillFormat;
  readonly models: ReadonlyMap<string, string>;
}

export interface ComparedBill {
  readonly by: 'job' | 'day';
  readonly read: Read & Partial<Reconciled>;
  readonly isInOrder: boolean;
  readonly totals: readonly Total[];
  readonly notes: readonly string[];
}

export async function compareBill({ bill, format, onRow, ...asked }: BillAsked): Promise<ComparedBill> {
  const totals = createTotals();
  const reconciling = {
    ...asked,
    lines: readBill(bill, format),
    onRow: async (row: Parameters<typeof onRow>[0]) => {
      totals.add(row);
      await onRow(row);
    },
  };
  const { utcOffsetHours = 0, columns } = format;
  const isByJob = columns.job !== undefined;
  const read = isByJob
    ? await reconcileJobs(reconciling)
    : await reconcileDays({ ...reconciling, utcOffsetHours });
  return {
    by: isByJob ? 'job' : 'day',
    read,
    isInOrder: totals.isInOrder(),
    totals: totals.list(),
    notes: notesOf(read),
  };
}

function notesOf({
  period,
  lines,
  skipped,
  outside,
  atTheEdge,
  hasMoreUnclaimed = false,
}: ComparedBill['read']) {
  const time = `${isoSeconds(period.from * 1000)} to ${isoSeconds(period.to * 1000)}`;
  return [
    `${lines} lines; ${skipped} without an amount and ${outside} outside of ${time} were not compared.`,
    ...(atTheEdge === undefined
      ? [
          'The bill lists no jobs, so sums by day and model were compared. This comparison does not show whether each line is for one of our jobs.',
        ]
      : []),
    ...(atTheEdge === undefined || atTheEdge === 0
      ? []
      : [`${atTheEdge} jobs began before this period or ended after it, and are not in this bill.`]),
    ...(hasMoreUnclaimed
      ? ['Only the newest attempts without a job were compared with the jobs that belong to no task.']
      : []),
  ];
}
