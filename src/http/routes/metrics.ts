import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { openRoute, textReply } from '../route.ts';
import type { Route } from '../route.ts';

export function metrics(deps: Pick<RouteDeps, 'metrics'>): Route {
  return openRoute({
    operationId: 'metrics',
    summary: 'Prometheus metrics of this process',
    tag: 'Service',
    method: 'get',
    paths: ['/metrics'],
    input: z.object({}),
    success: { description: 'Prometheus text format.', mediaType: 'text/plain' },
    errors: [],
    handle: async () => textReply(await deps.metrics.render(), deps.metrics.contentType),
  });
}
