import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { keyRoute } from '../route.ts';
import type { Route } from '../route.ts';
import { ownUsageQuery, usageReply, usageSuccess } from '../usage-reply.ts';

export function getUsage(deps: Pick<RouteDeps, 'ledger' | 'catalogue' | 'reports' | 'now'>): Route {
  return keyRoute({
    operationId: 'getUsage',
    scope: 'read_own',
    summary: 'Show what the account, or the key, has used',
    description:
      'Sums of the ledger, by the day (UTC) on which a task was held, its model, the id of its API key and the end user that its request named. A key with the scope `read_account` gets the sums of the whole account, any other key those of its own tasks. Entries that were written before the request are counted.',
    tag: 'Account',
    method: 'get',
    paths: ['/v1/usage'],
    input: z.object({ query: ownUsageQuery }),
    success: usageSuccess,
    errors: ['concurrency_limit_exceeded'],
    handle: ({ query, reach }) => usageReply({ ...query, ...reach }, deps),
  });
}
