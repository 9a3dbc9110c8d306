import { fieldChanges } from '../../base/field-changes.ts';
import { z } from 'zod';
import type { OperatorAuth } from '../../access/operators.ts';
import { rolesOf } from '../../base/operator.ts';
import { optionalReason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { operatorNotFound, rolesSchema } from '../new-operator.ts';
import { operatorSchema, presentOperator } from '../presenters/operator.ts';
import { jsonReply, settingRoute, type Route } from '../route.ts';

interface Deps extends Pick<RouteDeps, 'operators' | 'now'> {
  readonly operatorAuth: OperatorAuth;
}

export function setOperatorRoles({ operators, operatorAuth, now }: Deps): Route {
  return settingRoute({
    operationId: 'setOperatorRoles',
    access: 'admin',
    summary: "Change an operator's roles",
    description:
      'Requires ADMIN_TOKEN. The new roles replace the former ones. The token stays valid. Takes effect immediately on this node and within five seconds on the others.',
    method: 'post',
    paths: ['/admin/v1/operators/:operator/roles'],
    input: z.object({
      params: z.object({ operator: z.string().min(1) }),
      body: z.object({ roles: rolesSchema, reason: optionalReason }),
    }),
    success: { description: 'The operator with the new roles.', schema: operatorSchema },
    errors: ['operator_not_found'],
    async handle({ params: { operator: name }, body }) {
      const roles = rolesOf(body.roles);
      const before = await operators.setRoles(name, roles);
      if (before === undefined) throw operatorNotFound();
      operatorAuth.forget(name);
      const reply = jsonReply(presentOperator({ ...before, roles }, now()));
      return { reply, changes: fieldChanges({ roles: before.roles }, { roles }) };
    },
  });
}
