import { z } from 'zod';
import { findChannel } from '../admin-input.ts';
import { createBilling, type BillingDeps } from '../billing.ts';
import { billedAttemptSchema } from '../presenters/billed-attempt.ts';
import { listSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

const jobsMax = 500;
const jobCharactersMax = 300;

const body = z.object({
  channel: z.string().min(1),
  jobs: z.array(z.string().min(1).max(jobCharactersMax)).min(1).max(jobsMax).meta({
    description: 'The upstream’s ids.',
  }),
});

export function findBilledAttempts(deps: BillingDeps): Route {
  const billing = createBilling(deps);
  return adminRoute({
    operationId: 'findBilledAttempts',
    access: 'amounts',
    summary: 'Find the tasks that billed jobs belong to',
    description:
      'Returns the tasks to which these jobs belong, or belonged, and what the upstream should bill for them. Jobs that belong to no task are left out.',
    method: 'post',
    reads: 'many',
    paths: ['/admin/v1/billed-attempts/find'],
    input: z.object({ body }),
    success: { description: 'Ordered by the ids of their tasks.', schema: listSchema(billedAttemptSchema) },
    errors: ['channel_not_found'],
    async handle({ body: { channel, jobs } }) {
      const { id } = findChannel(deps.catalogue, channel);
      return jsonReply({ object: 'list', data: await billing.find(id, jobs) });
    },
  });
}
