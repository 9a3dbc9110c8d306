import { z } from 'zod';
import { optionalReason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { requireAccess } from '../identify.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export function endSessions({ operatorSessions }: Pick<RouteDeps, 'operatorSessions'>): Route {
  return adminRoute({
    operationId: 'endSessions',
    access: 'read',
    isAct: true,
    summary: 'End multiple console sessions',
    description:
      'Ends all matching sessions except the one that makes this request. Every node rejects their next requests.',
    method: 'delete',
    paths: ['/admin/v1/sessions'],
    input: z.object({
      query: z.object({
        operator: z.string().min(1).meta({
          description:
            'The operator whose sessions end, or `*` for all operators. Ending sessions of others requires the `access` role.',
        }),
        reason: optionalReason,
      }),
    }),
    success: {
      description: 'The sessions have ended.',
      schema: z.object({ object: z.literal('operator_sessions'), ended: z.int() }),
    },
    async handle({ query: { operator }, operator: by, roles, session }) {
      if (operator !== by) requireAccess({ name: by, roles }, 'access');
      const ended = await operatorSessions.endMany(operator === '*' ? {} : { operator }, session);
      return jsonReply({ object: 'operator_sessions', ended });
    },
  });
}
