import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { keyRoute, type Route } from '../route.ts';
import { ownUsageQuery, usageReply, usageSuccess } from '../usage-reply.ts';

export function getUsage(deps: Pick<RouteDeps, 'ledger' | 'catalogue' | 'reports' | 'now'>): Route {
  return keyRoute({
    operationId: 'getUsage',
    scope: 'read_own',
    summary: 'Show the account’s or key’s usage',
    description:
      'Returns ledger totals by the UTC day of a task’s hold, its model, its API key id and its end user. A key with the scope `read_account` gets totals for the whole account. Any other key gets totals for its own tasks. The totals include all entries written before the request.',
    tag: 'Account',
    method: 'get',
    paths: ['/v1/usage'],
    input: z.object({ query: ownUsageQuery }),
    success: usageSuccess,
    errors: ['concurrency_limit_exceeded'],
    handle: ({ query, reach }) => usageReply({ ...query, ...reach }, deps),
  });
}
