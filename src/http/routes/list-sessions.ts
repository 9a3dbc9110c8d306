import { z } from 'zod';
import { mayUse } from '../../base/operator.ts';
import type { RouteDeps } from '../deps.ts';
import { listSchema } from '../presenters/list.ts';
import { operatorSessionSchema, presentOperatorSession } from '../presenters/operator-session.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export function listSessions({ operatorSessions }: Pick<RouteDeps, 'operatorSessions'>): Route {
  return adminRoute({
    operationId: 'listSessions',
    access: 'read',
    summary: 'List console sessions',
    method: 'get',
    paths: ['/admin/v1/sessions'],
    input: z.object({}),
    success: {
      description:
        'The sessions that have not ended, newest first: the operator’s own or, with the `access` role, those of all operators.',
      schema: listSchema(operatorSessionSchema),
    },
    async handle({ operator, roles, session }) {
      const found = await operatorSessions.list(mayUse({ roles }, 'access') ? {} : { operator });
      return jsonReply({ object: 'list', data: found.map((each) => presentOperatorSession(each, session)) });
    },
  });
}
