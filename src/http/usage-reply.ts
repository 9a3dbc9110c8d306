import { z } from 'zod';
import { defined } from '../base/defined.ts';
import { usageDimensions, type UsageDimension, type UsageRow } from '../money/usage.ts';
import type { Cell } from '../money/csv.ts';
import type { RouteDeps } from './deps.ts';
import {
  beginReport,
  byOf,
  namesIn,
  period,
  periodOf,
  reportForms,
  reportMediaType,
  reportReply,
} from './report-reply.ts';
import type { Reply, Success } from './route.ts';

export const ownUsageQuery = z.object({
  ...period,
  by: byOf(
    usageDimensions.filter((dimension) => dimension !== 'account'),
    'day',
  ),
});

export const usageQuery = z.object({
  ...period,
  by: byOf(usageDimensions, 'day'),
  account: z.string().min(1).optional().meta({ description: 'Defaults to all accounts.' }),
});

const count = z.int();
const name = z.string().nullable().optional();

export const usageSuccess: Success = {
  description: reportForms,
  mediaType: reportMediaType,
  schema: z
    .object({
      object: z.literal('usage'),
      currency: z.string(),
      from: z.string(),
      to: z.string(),
      data: z.array(
        z.object({
          account: name,
          day: name,
          model: name,
          key: name,
          end_user: name,
          tasks: count.meta({ description: 'The number of tasks whose hold was made on these days.' }),
          settled: count,
          released: count,
          open: count.meta({ description: 'The number of tasks that are neither settled nor released.' }),
          charged: z.string(),
          refunded: z.string(),
        }),
      ),
    })
    .meta({ id: 'Usage' }),
};

type Query = Omit<z.output<typeof usageQuery>, 'account'> & {
  readonly account?: string | undefined;
  readonly key?: string | undefined;
};
/** No account has an empty name, so this stands for all accounts. */
const everyAccount = '';
const numberNames = ['tasks', 'settled', 'released', 'open', 'charged', 'refunded'] as const;

type Deps = Pick<RouteDeps, 'ledger' | 'catalogue' | 'reports' | 'now'>;

export async function usageReply({ format, account, key, ...query }: Query, deps: Deps): Promise<Reply> {
  const by = usageDimensions.filter((dimension) => namesIn(query.by).includes(dimension));
  const asked = { ...periodOf(query, deps.now()), by, ...defined({ account, key }) };
  const { currency } = deps.catalogue.current();
  const onEnd = beginReport(deps.reports, account ?? everyAccount);
  const report = {
    head: { object: 'usage', currency, from: asked.from, to: asked.before },
    columns: [...by, ...numberNames],
    rows: cellsOf(deps.ledger.usage(asked), by),
  };
  return reportReply(report, { format, onEnd });
}

async function* cellsOf(
  rows: AsyncIterable<UsageRow>,
  by: readonly UsageDimension[],
): AsyncIterable<readonly Cell[]> {
  for await (const row of rows) {
    yield [...by.map((dimension) => row.of[dimension]), ...numberNames.map((number) => row[number])];
  }
}
