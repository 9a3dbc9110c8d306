import { z } from 'zod';
import type { OperatorAuth } from '../../access/operators.ts';
import { optionalReason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { operatorNotFound } from '../new-operator.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

interface Deps extends Pick<RouteDeps, 'operators' | 'operatorSessions'> {
  readonly operatorAuth: OperatorAuth;
}

export function revokeOperator({ operators, operatorSessions, operatorAuth }: Deps): Route {
  return adminRoute({
    operationId: 'revokeOperator',
    access: 'admin',
    summary: "Revoke an operator's token",
    description:
      'Requires ADMIN_TOKEN. Takes effect immediately on this node and within five seconds on the others. Console sessions end immediately.',
    method: 'delete',
    paths: ['/admin/v1/operators/:operator'],
    input: z.object({
      params: z.object({ operator: z.string().min(1) }),
      query: z.object({ reason: optionalReason }),
    }),
    success: {
      description: 'The token is revoked. The record of the operator’s actions is kept.',
      schema: z.object({ object: z.literal('operator'), name: z.string(), revoked: z.literal(true) }),
    },
    errors: ['operator_not_found'],
    async handle({ params: { operator: name }, operator: by }) {
      if (!(await operators.revoke(name, by))) {
        throw operatorNotFound();
      }
      operatorAuth.forget(name);
      await operatorSessions.endMany({ operator: name });
      return jsonReply({ object: 'operator', name, revoked: true });
    },
  });
}
