import { z } from 'zod';
import type { OperatorAuth } from '../../access/operators.ts';
import { GatewayError } from '../../errors/errors.ts';
import { adminName, rolePresets, rolesOf, roleWords } from '../../base/operator.ts';
import { optionalReason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { operatorSchema, presentOperator } from '../presenters/operator.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

interface Deps extends Pick<RouteDeps, 'operators' | 'now'> {
  readonly operatorAuth: OperatorAuth;
}

const nameCharactersMax = 64;

const body = z.object({
  name: z
    .string()
    .max(nameCharactersMax)
    .refine(
      (name) => /^[a-z0-9][a-z0-9._@-]*$/.test(name),
      'must be lowercase letters, digits, dots, dashes, underscores and @',
    )
    .meta({ description: 'What the record of every action names.' }),
  roles: z
    .array(z.enum(roleWords))
    .max(roleWords.length)
    .default(['read'])
    .meta({
      description: `Roles, and names for several: ${Object.entries(rolePresets)
        .map(([name, roles]) => `\`${name}\` is ${roles.join(', ')}`)
        .join('; ')}. Every operator has \`read\`.`,
    }),
  reason: optionalReason,
});

export function addOperator({ operators, operatorAuth, now }: Deps): Route {
  return adminRoute({
    operationId: 'addOperator',
    access: 'admin',
    summary: 'Add an operator',
    description:
      'For the holder of ADMIN_TOKEN. The token is the operator’s own: what it does is recorded under this name. A name that was revoked can be added again.',
    method: 'post',
    paths: ['/admin/v1/operators'],
    input: z.object({ body }),
    success: {
      description: 'The operator; the token will not be shown again.',
      schema: operatorSchema.extend({ token: z.string() }),
    },
    errors: ['operator_exists'],
    async handle({ body: { name, roles }, operator: by }) {
      const { token, hmac, prefix } = operatorAuth.newToken();
      const added = { name, roles: rolesOf(roles), hmac, prefix, createdAt: now(), createdBy: by };
      if (name === adminName || !(await operators.insert(added))) {
        throw new GatewayError('operator_exists', `The operator ${name} already exists.`, { param: 'name' });
      }
      return jsonReply({ ...presentOperator(added), token });
    },
  });
}
