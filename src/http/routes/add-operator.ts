import { z } from 'zod';
import type { OperatorAuth } from '../../access/operators.ts';
import { rolesOf } from '../../base/operator.ts';
import type { RouteDeps } from '../deps.ts';
import { insertOrThrow, newOperatorBody } from '../new-operator.ts';
import { operatorSchema, presentOperator } from '../presenters/operator.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

interface Deps extends Pick<RouteDeps, 'operators' | 'now'> {
  readonly operatorAuth: OperatorAuth;
}

export function addOperator({ operators, operatorAuth, now }: Deps): Route {
  return adminRoute({
    operationId: 'addOperator',
    access: 'admin',
    summary: 'Add an operator',
    description:
      'Requires ADMIN_TOKEN. The new token belongs to this operator, and everything done with it is recorded under this name. The name can be used again once the token has been revoked.',
    method: 'post',
    paths: ['/admin/v1/operators'],
    input: z.object({ body: newOperatorBody }),
    success: {
      description: 'The operator. The token will not be shown again.',
      schema: operatorSchema.extend({ token: z.string() }),
    },
    errors: ['operator_exists'],
    async handle({ body: { name, roles }, operator: by }) {
      const { token, hmac, prefix } = operatorAuth.newToken();
      const at = now();
      const added = { name, roles: rolesOf(roles), hmac, prefix, createdAt: at, createdBy: by };
      await insertOrThrow(added, operators);
      return jsonReply({ ...presentOperator(added, at), token });
    },
  });
}
