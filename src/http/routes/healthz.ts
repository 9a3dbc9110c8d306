import { z } from 'zod';
import { jsonReply, openRoute, type Route } from '../route.ts';

export function healthz(): Route {
  return openRoute({
    operationId: 'healthz',
    summary: 'Check that the process responds',
    tag: 'Service',
    method: 'get',
    paths: ['/healthz'],
    input: z.object({}),
    success: { description: 'Always.', schema: z.object({ status: z.literal('ok') }) },
    handle: () => jsonReply({ status: 'ok' }),
  });
}
