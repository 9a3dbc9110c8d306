import { z } from 'zod';
import { invalidParameter } from '../../errors/errors.ts';
import { formatMicros } from '../../money/money.ts';
import { findChannel } from '../admin-input.ts';
import { billingOf } from '../billing.ts';
import { queryNumber } from '../query-fields.ts';
import type { RouteDeps } from '../deps.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

/** A bill's day, and what a zone may add. */
const spanSecondsMax = 2 * 86_400;
const timeMax = 253_402_300_799;

const query = z.object({
  channel: z.string().min(1),
  from: queryNumber(z.int().min(0).max(timeMax)).meta({ description: 'Unix seconds, inclusive.' }),
  before: queryNumber(z.int().min(0).max(timeMax)).meta({
    description: 'Unix seconds, exclusive; at most two days after `from`.',
  }),
});

const rowSchema = z.object({
  model: z.string(),
  upstream_model: z.string().nullable().meta({
    description: 'The vendor’s name of it, by the running configuration; null if it has none.',
  }),
  tasks: z.int().meta({ description: 'That have ended, images that were answered at once among them.' }),
  cost: z.string().meta({ description: 'What is known of it.' }),
  cost_unknown: z.int().meta({ description: 'Attempts whose cost is not known.' }),
});

type Deps = Pick<RouteDeps, 'readUpstreamCosts' | 'catalogue'>;

export function listUpstreamCosts({ readUpstreamCosts, catalogue }: Deps): Route {
  return adminRoute({
    operationId: 'listUpstreamCosts',
    access: 'read',
    summary: 'What an upstream should bill for a time',
    description:
      'Sums of the tasks of a channel that ended in it, by model. The costs of all attempts of a task count to the channel of its last job.',
    method: 'get',
    paths: ['/admin/v1/upstream-costs'],
    input: z.object({ query }),
    success: {
      description: 'By model.',
      schema: z.object({ object: z.literal('list'), currency: z.string(), data: z.array(rowSchema) }),
    },
    errors: ['channel_not_found'],
    async handle({ query: { channel, from, before } }) {
      const { id } = findChannel(catalogue, channel);
      if (before <= from || before - from > spanSecondsMax) {
        throw invalidParameter('before', 'before must be after from, by at most two days.');
      }
      const found = await readUpstreamCosts({ channel: id, from: from * 1000, before: before * 1000 });
      const { currency, upstreamModel } = billingOf(catalogue);
      const data = found.map(({ model, tasks, cost, unknown }) => {
        const upstream = upstreamModel(id, model) ?? null;
        return { model, upstream_model: upstream, tasks, cost: formatMicros(cost), cost_unknown: unknown };
      });
      return jsonReply({ object: 'list', currency, data });
    },
  });
}
