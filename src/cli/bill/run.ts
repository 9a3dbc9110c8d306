import { BillError } from '../../bills/bill-error.ts';
import { compareBill, type ComparedBill } from '../../bills/compare-bill.ts';
import { billAt } from '../../bills/read-lines.ts';
import type { ReportRow } from '../../bills/rows.ts';
import { defined } from '../../base/defined.ts';
import { isoSeconds } from '../../base/times.ts';
import type { BillFormat } from '../../providers/provider.ts';
import { CommandError } from '../command-error.ts';
import type { Session } from '../context.ts';
import type { Output } from '../output.ts';
import { createOwnAttempts } from './own-attempts.ts';
import { openReport } from './report.ts';

export interface Asked {
  readonly bill: string;
  readonly format: BillFormat;
  readonly channels: readonly string[];
  readonly models: ReadonlyMap<string, string>;
  readonly from?: number;
  readonly to?: number;
  readonly isStreamed: boolean;
  readonly csv?: string;
}

export async function runReconciliation(
  { bill, isStreamed, csv, ...asked }: Asked,
  { client, output }: Session,
): Promise<boolean> {
  const report = await openReport({ output, isStreamed, csv });
  try {
    const own = createOwnAttempts(client);
    const onRow = (row: ReportRow) => report.add(row);
    const compared = await compareBill({ ...asked, bill: billAt(bill), own, onRow });
    await report.complete();
    const summary = summaryOf(compared);
    if (isStreamed) output.item(summary);
    else if (output.isJson) output.item({ ...summary, rows: report.shown, has_more: report.hasMore() });
    else showReport({ rows: report.shown, hasMore: report.hasMore(), compared }, output);
    return compared.isInOrder;
  } catch (error) {
    if (error instanceof BillError) throw new CommandError('usage', error.message, { cause: error });
    throw error;
  } finally {
    await report.close();
  }
}

function summaryOf({ by, isInOrder, totals, read }: ComparedBill) {
  const { period, lines, skipped, outside, atTheEdge, hasMoreUnclaimed } = read;
  return {
    by,
    from: period.from,
    to: period.to,
    lines,
    lines_without_amount: skipped,
    lines_outside: outside,
    ...defined({ at_the_edge: atTheEdge, has_more_unclaimed: hasMoreUnclaimed }),
    in_order: isInOrder,
    totals,
  };
}

interface Shown {
  readonly rows: readonly ReportRow[];
  readonly hasMore: boolean;
  readonly compared: ComparedBill;
}

function showReport({ rows, hasMore, compared }: Shown, output: Output): void {
  const isByJob = compared.by === 'job';
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
      output.note(`${job} may belong to ${task} (attempt ${attempt}, ${state}): ${why.join(' ')}`);
  }
  if (hasMore) output.note('Some rows are not shown. Use --csv or -o jsonl to get all of them.');
  output.rows(
    compared.totals.map((total) => ({ ...total })),
    { columns: ['result', 'unit', 'rows', 'billed', 'expected'] },
  );
  for (const note of compared.notes) output.note(note);
}
