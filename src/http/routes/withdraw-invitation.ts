import { z } from 'zod';
import { optionalReason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { GatewayError } from '../../errors/errors.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export function withdrawInvitation({ operators }: Pick<RouteDeps, 'operators'>): Route {
  return adminRoute({
    operationId: 'withdrawInvitation',
    access: 'access',
    summary: 'Withdraw the invitation of an operator',
    description:
      'The link stops working immediately, on every node. If the link was already used, revoke the operator instead.',
    method: 'delete',
    paths: ['/admin/v1/operators/invitations/:operator'],
    input: z.object({
      params: z.object({ operator: z.string().min(1) }),
      query: z.object({ reason: optionalReason }),
    }),
    success: {
      description: 'The invitation is withdrawn.',
      schema: z.object({ object: z.literal('operator'), name: z.string(), revoked: z.literal(true) }),
    },
    errors: ['invitation_not_found'],
    async handle({ params: { operator: name }, operator: by }) {
      if (!(await operators.withdraw(name, by)))
        throw new GatewayError(
          'invitation_not_found',
          'This operator has no invitation that can still be used.',
          { param: 'operator' },
        );
      return jsonReply({ object: 'operator', name, revoked: true });
    },
  });
}
