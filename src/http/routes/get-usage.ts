import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { keyRoute } from '../route.ts';
import type { Route } from '../route.ts';
import { ownUsageQuery, usageReply, usageSuccess } from '../usage-reply.ts';

export function getUsage(deps: Pick<RouteDeps, 'ledger' | 'catalogue' | 'reports' | 'now'>): Route {
  return keyRoute({
    operationId: 'getUsage',
    scope: 'read_own',
    summary: 'Show the usage of the account or the key',
    description:
      'Returns ledger sums by the day (UTC) of a task’s hold, its model, the id of its API key and the end user in its request. A key with the scope `read_account` gets the sums of the whole account. Any other key gets those of its own tasks. All entries that were written before the request are counted.',
    tag: 'Account',
    method: 'get',
    paths: ['/v1/usage'],
    input: z.object({ query: ownUsageQuery }),
    success: usageSuccess,
    errors: ['concurrency_limit_exceeded'],
    handle: ({ query, reach }) => usageReply({ ...query, ...reach }, deps),
  });
}
