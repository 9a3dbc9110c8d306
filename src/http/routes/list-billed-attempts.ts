import { z } from 'zod';
import { mayHaveJob } from '../../task/attempt.ts';
import { defined } from '../../base/defined.ts';
import { findChannel } from '../admin-input.ts';
import { billingOf } from '../billing.ts';
import { queryNumber } from '../query-fields.ts';
import type { RouteDeps } from '../deps.ts';
import { billedAttemptSchema, presentBilledAttempt } from '../presenters/billed-attempt.ts';
import { pageSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

/** They are small, and an upstream's bill may be about a hundred thousand. */
const pageSizeMax = 1_000;
const cursorCharactersMax = 200;
const timeMax = 253_402_300_799;

const query = z.object({
  channel: z.string().min(1),
  from: queryNumber(z.int().min(0).max(timeMax)).meta({
    description: 'Unix seconds: tasks created from then on.',
  }),
  before: queryNumber(z.int().min(0).max(timeMax)).meta({
    description: 'Unix seconds: tasks created before then.',
  }),
  unclaimed: z.enum(['true', 'false']).default('false').meta({
    description: 'Those that have no job here, and of which it is not known whether the upstream has one.',
  }),
  limit: queryNumber(z.int().min(1).max(pageSizeMax).default(pageSizeMax)).meta({
    description: 'Tasks of a page. Each has the attempts that it made at the channel: usually one.',
  }),
  page: z
    .string()
    .max(cursorCharactersMax)
    .optional()
    .meta({ description: '`next_page` of the page before.' }),
});

export function listBilledAttempts({ tasks, catalogue }: Pick<RouteDeps, 'tasks' | 'catalogue'>): Route {
  return adminRoute({
    operationId: 'listBilledAttempts',
    access: 'read',
    summary: 'List what an upstream may bill',
    description:
      'A channel’s jobs of tasks that were created in a time, newest first, and what the upstream should bill for each.',
    method: 'get',
    paths: ['/admin/v1/billed-attempts'],
    input: z.object({ query }),
    success: {
      description: 'One page.',
      schema: pageSchema(billedAttemptSchema).extend({
        next_page: z.string().optional().meta({ description: 'While there are more: the next `page`.' }),
      }),
    },
    errors: ['channel_not_found'],
    async handle({ query: { channel, from, before, unclaimed, limit, page } }) {
      const { id } = findChannel(catalogue, channel);
      const isUnclaimed = unclaimed === 'true';
      const span = { channel: id, from: from * 1000, before: before * 1000, limit, after: page };
      const found = isUnclaimed ? await tasks.listUnclaimed(span) : await tasks.listBilled(span);
      const billing = billingOf(catalogue);
      const data = found.tasks.flatMap((task) =>
        task.attempts
          .filter(
            (one) => one.channel === id && (isUnclaimed ? mayHaveJob(one) : one.operation !== undefined),
          )
          .map((attempt) => presentBilledAttempt(task, attempt, billing)),
      );
      const { next } = found;
      const more = { has_more: next !== undefined, ...defined({ next_page: next }) };
      return jsonReply({ object: 'list', data, ...more });
    },
  });
}
