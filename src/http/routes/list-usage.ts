import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { adminRoute, type Route } from '../route.ts';
import { usageQuery, usageReply, usageSuccess } from '../usage-reply.ts';

export function listUsage(deps: Pick<RouteDeps, 'ledger' | 'catalogue' | 'reports' | 'now'>): Route {
  return adminRoute({
    operationId: 'listUsage',
    access: 'amounts',
    summary: 'Show what accounts have used',
    description:
      'Returns the same totals that owners see, for one account or for all. They can also be grouped by account.',
    method: 'get',
    paths: ['/admin/v1/usage'],
    input: z.object({ query: usageQuery }),
    success: usageSuccess,
    errors: ['concurrency_limit_exceeded'],
    handle: ({ query }) => usageReply(query, deps),
  });
}
