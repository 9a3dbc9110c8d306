import { z } from 'zod';
import type { Period } from '../../ledger/statement.ts';
import type { RouteDeps } from '../deps.ts';
import { beginReport } from '../report-reply.ts';
import { madeWhileSent, type Reply, type Success } from '../route.ts';
import { csv } from './csv.ts';
import type { StatementForm, TitledStatement } from './form.ts';
import { jsonLines } from './json-lines.ts';
import { page } from './page.ts';

const forms = { jsonl: jsonLines, csv, html: page } as const satisfies Record<string, StatementForm>;

export const statementQuery = z.object({
  month: z
    .string()
    .regex(/^20\d\d-(?:0[1-9]|1[0-2])$/, 'must be a month such as 2026-11')
    .meta({ description: 'The month in UTC, such as `2026-11`.' }),
  format: z.enum(['jsonl', 'csv', 'html']).default('jsonl').meta({
    description:
      '`jsonl`: one object per line, the first with the opening balance, the last with the closing balance and the sums by kind. `csv`: the same data as rows, with amounts as decimals and no text that a spreadsheet would read as a formula. `html`: a printable page.',
  }),
});

export const statementSuccess: Success = {
  description: 'The current statement.',
  mediaType: Object.values(forms).map(({ mediaType }) => mediaType),
};

interface Asked extends z.output<typeof statementQuery> {
  readonly account: { readonly id: string; readonly name: string };
  readonly reader: string;
}

type Deps = Pick<RouteDeps, 'ledger' | 'catalogue' | 'reports'>;

/**
 * Reads one page at a time, once the caller has received the previous one. Stops when the caller disconnects. Throws
 * concurrency_limit_exceeded if too many reports are being read.
 */
export async function statementReply({ account, reader, month, format }: Asked, deps: Deps): Promise<Reply> {
  const opened = await deps.ledger.statement(account.id, periodOf(month));
  const { currency } = deps.catalogue.current();
  const statement = { ...opened, name: account.name, currency, month };
  const form: StatementForm = forms[format];
  const disposition = format === 'html' ? 'inline' : 'attachment';
  return madeWhileSent(written(statement, form), {
    onEnd: beginReport(deps.reports, reader),
    headers: {
      ...form.headers,
      'cache-control': 'no-store',
      'content-disposition': `${disposition}; filename="statement-${account.id}-${month}.${format}"`,
    },
    mediaType: form.mediaType,
  });
}

async function* written(statement: TitledStatement, form: StatementForm): AsyncIterable<string> {
  yield form.open(statement);
  for await (const entries of statement.pages()) yield form.rows(entries);
  yield form.close(statement);
}

function periodOf(month: string): Period {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return { from: Date.UTC(year, number - 1), before: Date.UTC(year, number) };
}
