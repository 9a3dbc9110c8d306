import { z } from 'zod';
import type { Trends } from '../../observability/read-trends.ts';
import { formatMicros } from '../../money/money.ts';
import { addFlows, emptyFlow, failedOf, failureCounts, latenessAt, type Flow } from '../../reports/flow.ts';
import { failureClassSchema } from './enums.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

const within = z.int().nullable();

const sumsSchema = z.object({
  created: z.int(),
  succeeded: z.int(),
  failures: z.array(z.object({ class: failureClassSchema, count: z.int() })),
  delivery: z.object({ p50_seconds: within, p95_seconds: within }).nullable().meta({
    description:
      'The 50th and 95th percentile of the time from the end of the render to the end of the task, in seconds. A percentile above 300 is reported as null. The object is null if no vendor reported when a render ended.',
  }),
  held: z.string().meta({ description: 'The total held for the tasks that were created in this period.' }),
  charged: z.string().meta({
    description: 'The ledger’s charges in this period, including synchronous images.',
  }),
  refunded: z.string(),
  cost: z.string().meta({ description: 'The known part of the cost.' }),
});

export const trendsSchema = z
  .object({
    object: z.literal('trends'),
    currency: z.string(),
    step_seconds: z.int(),
    channels: z.array(z.string()).meta({ description: 'The channels with activity in this period.' }),
    models: z.array(z.string()).meta({ description: 'The models with activity in this period.' }),
    data: z.array(
      sumsSchema.extend({
        at: unixSeconds('The start of the step. The last step is still in progress.'),
        unfinished: z.int().nullable().meta({
          description:
            'The number of tasks that were unfinished at the end of the step. Null if the response is filtered by channel or model.',
        }),
      }),
    ),
    groups: z.array(
      sumsSchema.extend({
        name: z
          .string()
          .nullable()
          .meta({ description: 'The channel or model. Null for tasks that were never submitted.' }),
        ended: z.array(z.int()).meta({ description: 'How many tasks ended in each step.' }),
        failed: z.array(z.int()).meta({ description: 'How many tasks failed in each step.' }),
      }),
    ),
  })
  .meta({ id: 'Trends' });

export interface TrendsAsked {
  readonly by: 'channel' | 'model';
  readonly channel?: string | undefined;
  readonly model?: string | undefined;
}

export function chosenFlows({ flows, steps }: Trends, { channel, model }: Omit<TrendsAsked, 'by'>): Flow[] {
  const known = new Set(steps);
  return flows.filter(
    (flow) =>
      known.has(flow.at) &&
      (channel === undefined || flow.channel === channel) &&
      (model === undefined || flow.model === model),
  );
}

export function presentTrends(
  trends: Trends,
  { currency, ...asked }: TrendsAsked & { readonly currency: string },
): z.output<typeof trendsSchema> {
  const chosen = chosenFlows(trends, asked);
  const byStep = addFlows(chosen, ({ at }) => String(at));
  const none = (at: number) => emptyFlow({ at, channel: '', model: '' });
  const sums = trends.steps.map((at) => byStep.get(String(at)) ?? none(at));
  const isWhole = asked.channel === undefined && asked.model === undefined;
  const left = isWhole ? unfinishedAt(sums, trends.unfinished) : [];
  return {
    object: 'trends',
    currency,
    step_seconds: trends.stepMs / 1000,
    channels: namesOf(trends.flows.map(({ channel }) => channel)),
    models: namesOf(trends.flows.map(({ model }) => model)),
    data: sums.map((flow, n) => ({
      at: toSeconds(flow.at),
      ...presentSums(flow),
      unfinished: left[n] ?? null,
    })),
    groups: groupsOf(chosen, asked.by, trends.steps),
  };
}

/** Works backwards from `now`: subtracts tasks created since, and adds those finished since. */
function unfinishedAt(sums: readonly Flow[], now: number): number[] {
  let left = now;
  return sums
    .map((_, n) => sums[sums.length - n - 1])
    .map((flow) => {
      const atEnd = left;
      if (flow !== undefined) left = Math.max(0, left - flow.created + endedOf(flow));
      return atEnd;
    })
    .toReversed();
}

function groupsOf(flows: readonly Flow[], by: TrendsAsked['by'], steps: readonly number[]) {
  const sums = addFlows(flows, (flow) => flow[by]);
  const stepped = addFlows(flows, (flow) => JSON.stringify([flow[by], flow.at]));
  return [...sums.keys()].toSorted().flatMap((name) => {
    const sum = sums.get(name);
    if (sum === undefined) return [];
    const atStep = (at: number) => stepped.get(JSON.stringify([name, at]));
    const each = (count: (flow: Flow) => number) =>
      steps.map((at) => {
        const flow = atStep(at);
        return flow === undefined ? 0 : count(flow);
      });
    return [
      { name: name === '' ? null : name, ...presentSums(sum), ended: each(endedOf), failed: each(failedOf) },
    ];
  });
}

function presentSums(flow: Flow): z.output<typeof sumsSchema> {
  const [p50, p95] = [latenessAt(flow, 0.5), latenessAt(flow, 0.95)];
  return {
    created: flow.created,
    succeeded: flow.succeeded,
    failures: failureCounts(flow).map(([name, count]) => ({ class: name, count })),
    delivery: p50 === undefined || p95 === undefined ? null : { p50_seconds: p50, p95_seconds: p95 },
    held: formatMicros(flow.held),
    charged: formatMicros(flow.charged),
    refunded: formatMicros(flow.refunded),
    cost: formatMicros(flow.cost),
  };
}

function endedOf(flow: Flow): number {
  return flow.succeeded + failedOf(flow);
}

function namesOf(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => name !== '').toSorted();
}
