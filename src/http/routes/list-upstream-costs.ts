import { z } from 'zod';
import { invalidParameter } from '../../errors/errors.ts';
import { findChannel } from '../admin-input.ts';
import { createBilling, type BillingDeps } from '../billing.ts';
import { queryNumber } from '../query-fields.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

/** One day of a bill plus its time zone offset. */
const spanSecondsMax = 2 * 86_400;
const timeMax = 253_402_300_799;

const query = z.object({
  channel: z.string().min(1),
  from: queryNumber(z.int().min(0).max(timeMax)).meta({ description: 'Unix seconds, inclusive.' }),
  before: queryNumber(z.int().min(0).max(timeMax)).meta({
    description: 'Unix seconds, exclusive. Must be at most two days after `from`.',
  }),
});

const rowSchema = z.object({
  model: z.string(),
  upstream_model: z.string().nullable().meta({
    description:
      'The vendor’s name for the model in the running configuration. Null if the configuration has none.',
  }),
  tasks: z.int().meta({ description: 'The number of tasks that have ended, including synchronous images.' }),
  cost: z.string().meta({ description: 'The known part of the cost.' }),
  cost_unknown: z.int().meta({ description: 'The number of attempts whose cost is unknown.' }),
});

export function listUpstreamCosts(deps: BillingDeps): Route {
  const billing = createBilling(deps);
  return adminRoute({
    operationId: 'listUpstreamCosts',
    access: 'amounts',
    summary: 'Show what an upstream should bill for a period',
    description:
      'Returns totals by model for the channel’s tasks that ended in the period. The costs of all attempts of a task are attributed to the channel of its last job.',
    method: 'get',
    paths: ['/admin/v1/upstream-costs'],
    input: z.object({ query }),
    success: {
      description: 'The totals by model.',
      schema: z.object({ object: z.literal('list'), currency: z.string(), data: z.array(rowSchema) }),
    },
    errors: ['channel_not_found'],
    async handle({ query: { channel, from, before } }) {
      const { id } = findChannel(deps.catalogue, channel);
      if (before <= from || before - from > spanSecondsMax) {
        throw invalidParameter('before', 'The parameter before must be after from, by at most two days.');
      }
      return jsonReply({ object: 'list', ...(await billing.costs(id, { from, to: before })) });
    },
  });
}
