import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { isWithin } from '../../base/key-scope.ts';
import { callbackStates } from '../../task/callback-record.ts';
import { pageSize } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { findCursor } from '../find-cursor.ts';
import { loggedCallbackSchema, presentLoggedCallback } from '../presenters/callback.ts';
import { pageSchema } from '../presenters/list.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';

const query = z.object({
  limit: pageSize,
  after: z.string().optional().meta({ description: 'The last `task_id` of the previous page.' }),
  state: z.enum(callbackStates).optional().meta({
    description:
      '`gave_up`: no more attempts are made. `pending`: the last attempt failed and will be retried.',
  }),
});

export function listCallbacks({ tasks }: Pick<RouteDeps, 'tasks'>): Route {
  return keyRoute({
    operationId: 'listCallbacks',
    scope: 'read_own',
    summary: 'List callbacks',
    description:
      'Lists the callbacks, newest task first, each with every request and your server’s response. For a key with the scope `read_account`, the list covers all of the account’s keys.',
    tag: 'Account',
    method: 'get',
    paths: ['/v1/callbacks'],
    input: z.object({ query }),
    success: { description: 'One page.', schema: pageSchema(loggedCallbackSchema) },
    async handle({ query: { limit, after: id, state }, reach }) {
      const after = await findCursor(id, 'one of your tasks', async (task) => {
        const found = await tasks.find(task);
        return found !== undefined && isWithin(reach, found) ? found : undefined;
      });
      const page = await tasks.listCallbacks(reach, { limit, ...defined({ after, state }) });
      return jsonReply({
        object: 'list',
        data: page.tasks.map(presentLoggedCallback),
        has_more: page.hasMore,
      });
    },
  });
}
