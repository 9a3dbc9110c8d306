import { z } from 'zod';
import { attentionReasons } from '../../task/attention.ts';
import { addFlows, failureCounts, type Flow } from '../../reports/flow.ts';
import type { RouteDeps } from '../deps.ts';
import { failureClassSchema } from '../presenters/enums.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

const named = z.object({ name: z.string(), count: z.int() });

export function listTaskFilters({
  readTrends,
  takeCensus,
}: Pick<RouteDeps, 'readTrends' | 'takeCensus'>): Route {
  return adminRoute({
    operationId: 'listTaskFilters',
    access: 'read',
    summary: 'List the filters for tasks, with counts',
    description:
      'Counts tasks from the last seven days. `attention` counts the tasks that need attention now.',
    method: 'get',
    paths: ['/admin/v1/task-filters'],
    input: z.object({}),
    success: {
      description: 'The filters, largest counts first.',
      schema: z.object({
        object: z.literal('task_filters'),
        models: z.array(named).meta({ description: 'Counts the tasks that were created.' }),
        channels: z.array(named).meta({ description: 'Counts the tasks that were created.' }),
        classes: z.array(z.object({ name: failureClassSchema, count: z.int() })).meta({
          description: 'Counts the tasks that failed.',
        }),
        attention: z.array(z.object({ name: z.enum(attentionReasons), count: z.int() })),
      }),
    },
    async handle() {
      const [{ flows }, census] = await Promise.all([readTrends('week'), takeCensus()]);
      const failed = addFlows(flows, () => '').get('');
      const counts = new Map<(typeof attentionReasons)[number], number>();
      for (const { reason, count } of census.attention) counts.set(reason, (counts.get(reason) ?? 0) + count);
      return jsonReply({
        object: 'task_filters',
        models: createdBy(flows, 'model'),
        channels: createdBy(flows, 'channel'),
        classes: ordered(failed === undefined ? [] : failureCounts(failed)),
        attention: ordered([...counts]),
      });
    },
  });
}

function createdBy(flows: readonly Flow[], by: 'model' | 'channel') {
  const sums = [...addFlows(flows, (flow) => flow[by])];
  return ordered(sums.flatMap(([name, { created }]) => (name === '' ? [] : [[name, created] as const])));
}

function ordered<Name extends string>(counts: readonly (readonly [Name, number])[]) {
  return counts.map(([name, count]) => ({ name, count })).toSorted((a, b) => b.count - a.count);
}
