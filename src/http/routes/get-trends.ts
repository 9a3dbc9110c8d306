import { z } from 'zod';
import { isoSeconds } from '../../base/times.ts';
import type { Cell } from '../../money/csv.ts';
import { failedOf, trendSpans, type Flow } from '../../reports/flow.ts';
import type { RouteDeps } from '../deps.ts';
import { chosenFlows, presentTrends, trendsSchema } from '../presenters/trends.ts';
import { reportMediaType, reportReply } from '../report-reply.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

const query = z.object({
  span: z.enum(trendSpans).default('day').meta({
    description: 'The last hour in steps of five minutes, or the last day or week in steps of an hour.',
  }),
  by: z
    .enum(['channel', 'model'])
    .default('channel')
    .meta({ description: 'Whether `groups` has one entry for each channel or for each model.' }),
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
    summary: 'Show created and ended tasks and their amounts over time',
    description:
      'Computed from the task records and the ledger. A created task is attributed to its current channel and model. Results are cached for a few seconds, and past hours are stored as rollups.',
    method: 'get',
    paths: ['/admin/v1/trends'],
    input: z.object({ query }),
    success: {
      description:
        'All steps, oldest first. The CSV has a row for each step, channel and model with activity.',
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
