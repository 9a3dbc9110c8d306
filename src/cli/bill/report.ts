import { csvLine } from '../../money/csv.ts';
import { parseDecimal } from '../../money/decimal.ts';
import { isoSeconds } from '../../base/times.ts';
import type { Output } from '../output.ts';
import { replaceFile } from '../replace-file.ts';
import { isInOrder, type ReportRow } from '../../bills/rows.ts';

const shownMax = 1_000;
const bufferedCharactersMax = 64 * 1024;

export interface Report {
  add(row: ReportRow): Promise<void>;
  readonly shown: readonly ReportRow[];
  readonly hasMore: () => boolean;
  complete(): Promise<void>;
  close(): Promise<void>;
}

interface Reporting {
  readonly output: Output;
  readonly isStreamed: boolean;
  readonly csv?: string | undefined;
}

export async function openReport({ output, isStreamed, csv }: Reporting): Promise<Report> {
  const shown: ReportRow[] = [];
  let hasMore = false;
  const file = csv === undefined ? undefined : await openCsv(csv);
  return {
    async add(row) {
      await file?.write(csvCells(row));
      if (isStreamed) output.item({ ...row });
      else if (!isInOrder(row.result)) {
        hasMore = shown.length === shownMax;
        if (!hasMore) shown.push(row);
      }
    },
    shown,
    hasMore: () => hasMore,
    complete: async () => file?.complete(),
    close: async () => file?.close(),
  };
}

const columns = [
  'result',
  'job',
  'channel',
  'task',
  'attempt',
  'account',
  'model',
  'at',
  'unit',
  'billed',
  'expected',
  'difference',
  'lines',
  'tasks',
  'cost_unknown',
  'candidates',
] as const satisfies readonly (keyof ReportRow)[];

type Cells = Parameters<typeof csvLine>[0];

function csvCells(row: ReportRow): Cells {
  const number = (text: string | null) => (text === null ? undefined : parseDecimal(text));
  const words = {
    result: row.result,
    job: row.job,
    channel: row.channel,
    task: row.task,
    account: row.account,
  };
  const cells: Readonly<Record<(typeof columns)[number], Cells[number] | null>> = {
    ...words,
    model: row.model,
    unit: row.unit,
    attempt: row.attempt,
    at: row.at === null ? null : isoSeconds(row.at * 1000),
    billed: number(row.billed),
    expected: number(row.expected),
    difference: number(row.difference),
    lines: row.lines,
    tasks: row.tasks,
    cost_unknown: row.cost_unknown,
    candidates: row.candidates.map(({ task, attempt, state }) => `${task}/${attempt} ${state}`).join(' '),
  };
  return columns.map((name) => cells[name] ?? undefined);
}

async function openCsv(path: string) {
  const file = await replaceFile(path);
  let waiting = csvLine(columns);
  const flush = async () => {
    await file.write(waiting);
    waiting = '';
  };
  return {
    async write(cells: Cells) {
      waiting += csvLine(cells);
      if (waiting.length > bufferedCharactersMax) await flush();
    },
    async complete() {
      await flush();
      await file.complete();
    },
    close: () => file.close(),
  };
}
