import { z } from 'zod';
import { marginDimensions, marginOf, type MarginDimension, type MarginRow } from '../../money/margin.ts';
import type { Cell } from '../../money/csv.ts';
import type { RouteDeps } from '../deps.ts';
import {
  beginReport,
  byOf,
  namesIn,
  period,
  periodOf,
  reportForms,
  reportMediaType,
  reportReply,
} from '../report-reply.ts';
import { adminRoute, type Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'ledger' | 'catalogue' | 'reports' | 'now'>;

const name = z.string().nullable().optional();

export const marginSchema = z
  .object({
    object: z.literal('margin'),
    currency: z.string(),
    from: z.string(),
    to: z.string(),
    data: z.array(
      z.object({
        day: name,
        channel: name.meta({ description: 'The channel of the last job. Null if nothing was submitted.' }),
        model: name,
        account: name,
        key: name.meta({ description: 'Null for tasks without a hold.' }),
        end_user: name.meta({ description: 'Null if the request named no end user.' }),
        tasks: z.int().meta({ description: 'Tasks that have ended.' }),
        charged: z.string(),
        refunded: z.string(),
        cost: z.string().meta({ description: 'The known part of the cost.' }),
        cost_unknown: z.int().meta({
          description:
            'The number of attempts that may be billed for an unknown amount. `cost` does not include them.',
        }),
        margin: z.string().meta({
          description:
            'Charges minus refunds and the known cost. If `cost_unknown` is above 0, the real margin is at most this.',
        }),
      }),
    ),
  })
  .meta({ id: 'Margin' });

const numberNames = ['tasks', 'charged', 'refunded', 'cost', 'cost_unknown', 'margin'];

export function getMargin({ ledger, catalogue, reports, now }: Deps): Route {
  return adminRoute({
    operationId: 'getMargin',
    access: 'amounts',
    summary: 'Show margins: charges minus refunds and upstream costs',
    description:
      'Returns totals for the tasks that ended or were refunded on these days, ordered by day and then by margin, lowest first. The costs of all attempts of a task are attributed to the channel of its last job.',
    method: 'get',
    paths: ['/admin/v1/margin'],
    input: z.object({ query: z.object({ ...period, by: byOf(marginDimensions, 'model') }) }),
    success: { description: reportForms, mediaType: reportMediaType, schema: marginSchema },
    errors: ['concurrency_limit_exceeded'],
    handle({ query, operator }) {
      const by = marginDimensions.filter((dimension) => namesIn(query.by).includes(dimension));
      const asked = { ...periodOf(query, now()), by };
      const { currency } = catalogue.current();
      const onEnd = beginReport(reports, operator);
      const report = {
        head: { object: 'margin', currency, from: asked.from, to: asked.before },
        columns: [...by, ...numberNames],
        rows: cellsOf(ledger.margin(asked), by),
      };
      return reportReply(report, { format: query.format, onEnd });
    },
  });
}

async function* cellsOf(
  rows: AsyncIterable<MarginRow>,
  by: readonly MarginDimension[],
): AsyncIterable<readonly Cell[]> {
  for await (const row of rows) {
    const { tasks, charged, refunded, cost, unknown } = row;
    const names = by.map((dimension) => row.of[dimension]);
    yield [...names, tasks, charged, refunded, cost, unknown, marginOf(row)];
  }
}
