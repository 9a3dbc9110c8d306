import { z } from 'zod';
import { mayUse } from '../../base/operator.ts';
import { GatewayError } from '../../errors/errors.ts';
import { optionalReason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export function endSession({ operatorSessions }: Pick<RouteDeps, 'operatorSessions'>): Route {
  return adminRoute({
    operationId: 'endSession',
    access: 'read',
    isAct: true,
    summary: 'End a console session',
    description:
      'Operators can end their own sessions and, if they have the `access` role, all sessions. Every node rejects the session’s next request.',
    method: 'delete',
    paths: ['/admin/v1/sessions/:session'],
    input: z.object({
      params: z.object({
        session: z
          .string()
          .min(1)
          .meta({ description: 'An id, or `current` for the session of this request.' }),
      }),
      query: z.object({ reason: optionalReason }),
    }),
    success: {
      description: 'The session has ended.',
      schema: z.object({ object: z.literal('operator_session'), id: z.string(), ended: z.literal(true) }),
    },
    errors: ['session_not_found'],
    async handle({ params, operator, roles, session: current = '' }) {
      const id = params.session === 'current' ? current : params.session;
      const found = await operatorSessions.find(id);
      const isTheirs = found?.operator === operator || mayUse({ roles }, 'access');
      if (found === undefined || !isTheirs || !(await operatorSessions.end(id)))
        throw new GatewayError(
          'session_not_found',
          'There is no such session, or you are not allowed to end it.',
          {
            param: 'session',
          },
        );
      return jsonReply({ object: 'operator_session', id, ended: true });
    },
  });
}
