import { z } from 'zod';
import { isoSeconds } from '../../base/times.ts';
import type { Cell } from '../../money/csv.ts';
import { failedOf, trendSpans } from '../../task/flow.ts';
import type { Flow } from '../../task/flow.ts';
import type { RouteDeps } from '../deps.ts';
import { chosenFlows, presentTrends, trendsSchema } from '../presenters/trends.ts';
import { reportMediaType, reportReply } from '../report-reply.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

const query = z.object({
  span: z.enum(trendSpans).default('day').meta({
    description: 'The last hour in steps of five minutes, or the last day or week in steps of an hour.',
  }),
  by: z.enum(['channel', 'model']).default('channel').meta({ description: 'What `groups` adds up.' }),
  channel: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  format: z.enum(['json', 'csv']).default('json'),
});

const columns = [
  'at', 'channel', 'model', 'created', 'succeeded', 'failed', 'held', 'charged', 'refunded', 'cost',
]; // prettier-ignore

export function getTrends({ readTrends, catalogue }: Pick<RouteDeps, 'readTrends' | 'catalogue'>): Route {
  return adminRoute({
    operationId: 'getTrends',
    access: 'read',
    summary: 'Show what came and ended, over time',
    description:
      'Made from the records and the ledger. A task counts as created by its present channel and model. Reads are shared for some seconds, and an hour that is over is kept as a rollup.',
    method: 'get',
    paths: ['/admin/v1/trends'],
    input: z.object({ query }),
    success: {
      description: 'All steps, oldest first. As CSV: a row for each step, channel and model that has any.',
      mediaType: reportMediaType,
      schema: trendsSchema,
    },
    async handle({ query: { span, format, ...asked } }) {
      const trends = await readTrends(span);
      const { currency } = catalogue.current();
      if (format === 'json') return jsonReply(presentTrends(trends, { ...asked, currency }));
      const rows = cellsOf(chosenFlows(trends, asked));
      return reportReply({ head: {}, columns, rows }, { format, onEnd: () => undefined });
    },
  });
}

async function* cellsOf(flows: readonly Flow[]): AsyncIterable<readonly Cell[]> {
  for (const flow of flows.toSorted((a, b) => a.at - b.at)) {
    const { at, channel, model, created, succeeded, held, charged, refunded, cost } = flow;
    yield [isoSeconds(at), channel, model, created, succeeded, failedOf(flow), held, charged, refunded, cost];
  }
}
