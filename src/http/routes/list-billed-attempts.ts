import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { findChannel } from '../admin-input.ts';
import { createBilling, type BillingDeps } from '../billing.ts';
import { queryNumber } from '../query-fields.ts';
import { billedAttemptSchema } from '../presenters/billed-attempt.ts';
import { pageSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

/** Pages are large, because a vendor's bill can contain around a hundred thousand of these small rows. */
const pageSizeMax = 1_000;
const cursorCharactersMax = 200;
const timeMax = 253_402_300_799;

const query = z.object({
  channel: z.string().min(1),
  from: queryNumber(z.int().min(0).max(timeMax)).meta({
    description: 'Unix seconds, inclusive. Selects tasks created at or after this time.',
  }),
  before: queryNumber(z.int().min(0).max(timeMax)).meta({
    description: 'Unix seconds, exclusive. Selects tasks created before this time.',
  }),
  unclaimed: z.enum(['true', 'false']).default('false').meta({
    description: 'Selects attempts for which it is unknown whether the upstream has a job.',
  }),
  limit: queryNumber(z.int().min(1).max(pageSizeMax).default(pageSizeMax)).meta({
    description:
      'The number of tasks per page. Each task is listed with its attempts on the channel, usually one.',
  }),
  page: z
    .string()
    .max(cursorCharactersMax)
    .optional()
    .meta({ description: '`next_page` of the previous page.' }),
});

export function listBilledAttempts(deps: BillingDeps): Route {
  const billing = createBilling(deps);
  return adminRoute({
    operationId: 'listBilledAttempts',
    access: 'amounts',
    summary: 'List the jobs that an upstream may bill',
    description:
      'Lists a channel’s jobs for the tasks created in a period, newest first, with what the upstream should bill for each.',
    method: 'get',
    paths: ['/admin/v1/billed-attempts'],
    input: z.object({ query }),
    success: {
      description: 'One page.',
      schema: pageSchema(billedAttemptSchema).extend({
        next_page: z.string().optional().meta({ description: 'The next `page`, if there is one.' }),
      }),
    },
    errors: ['channel_not_found'],
    async handle({ query: { channel, from, before, unclaimed, limit, page } }) {
      const { id } = findChannel(deps.catalogue, channel);
      const span = { channel: id, from: from * 1000, before: before * 1000, limit, after: page };
      const { data, next } = await billing[unclaimed === 'true' ? 'unclaimed' : 'jobs'](span);
      const more = { has_more: next !== undefined, ...defined({ next_page: next }) };
      return jsonReply({ object: 'list', data, ...more });
    },
  });
}
