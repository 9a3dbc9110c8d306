import { z } from 'zod';
import { findChannel } from '../admin-input.ts';
import { billingOf } from '../billing.ts';
import type { RouteDeps } from '../deps.ts';
import { billedAttemptSchema, presentBilledAttempt } from '../presenters/billed-attempt.ts';
import { listSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

const jobsMax = 500;
const jobCharactersMax = 300;

const body = z.object({
  channel: z.string().min(1),
  jobs: z.array(z.string().min(1).max(jobCharactersMax)).min(1).max(jobsMax).meta({
    description: 'The upstream’s ids.',
  }),
});

export function findBilledAttempts({ tasks, catalogue }: Pick<RouteDeps, 'tasks' | 'catalogue'>): Route {
  return adminRoute({
    operationId: 'findBilledAttempts',
    access: 'read',
    summary: 'Find what an upstream bills',
    description:
      'Whose jobs these are, or were, and what the upstream should bill for them; one that is nobody’s is missing.',
    method: 'post',
    paths: ['/admin/v1/billed-attempts/find'],
    input: z.object({ body }),
    success: { description: 'In the order of their tasks’ ids.', schema: listSchema(billedAttemptSchema) },
    errors: ['channel_not_found'],
    async handle({ body: { channel, jobs } }) {
      const { id } = findChannel(catalogue, channel);
      const asked = new Set(jobs);
      const found = await tasks.findBilled(id, jobs);
      const billing = billingOf(catalogue);
      const data = found
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .flatMap((task) =>
          task.attempts
            .filter((one) => one.channel === id && one.operation !== undefined && asked.has(one.operation.id))
            .map((attempt) => presentBilledAttempt(task, attempt, billing)),
        );
      return jsonReply({ object: 'list', data });
    },
  });
}
