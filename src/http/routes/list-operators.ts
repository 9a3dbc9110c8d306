import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { operatorSchema, presentOperator } from '../presenters/operator.ts';
import { listSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export function listOperators({ operators, now }: Pick<RouteDeps, 'operators' | 'now'>): Route {
  return adminRoute({
    operationId: 'listOperators',
    access: 'read',
    summary: 'List operators',
    method: 'get',
    paths: ['/admin/v1/operators'],
    input: z.object({}),
    success: {
      description:
        'Includes invited and revoked operators, but no tokens or links. The holder of ADMIN_TOKEN, `admin`, is not listed.',
      schema: listSchema(operatorSchema),
    },
    async handle() {
      const found = await operators.list();
      return jsonReply({ object: 'list', data: found.map((each) => presentOperator(each, now())) });
    },
  });
}
