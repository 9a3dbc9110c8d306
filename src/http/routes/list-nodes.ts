import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { nodeSchema, presentNode } from '../presenters/node.ts';
import { listSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export function listNodes({ nodes }: Pick<RouteDeps, 'nodes'>): Route {
  return adminRoute({
    operationId: 'listNodes',
    access: 'read',
    summary: 'List the gateway’s processes',
    description:
      'Each process sends a report every five seconds, and immediately after it loads or rejects a configuration.',
    method: 'get',
    paths: ['/admin/v1/nodes'],
    input: z.object({}),
    success: { description: 'The latest report of each process.', schema: listSchema(nodeSchema) },
    async handle() {
      await nodes.refresh();
      return jsonReply({ object: 'list', data: nodes.all().map(presentNode) });
    },
  });
}
