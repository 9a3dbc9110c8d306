import { z } from 'zod';
import type { OperatorAuth } from '../../access/operators.ts';
import { linkSecondsDefault } from '../../access/invitations.ts';
import { mayGrant, rolesOf } from '../../base/operator.ts';
import { GatewayError } from '../../errors/errors.ts';
import { linkOf, linkSchema, linkValidSeconds } from '../invitation.ts';
import type { RouteDeps } from '../deps.ts';
import { insertOrThrow, newOperatorBody } from '../new-operator.ts';
import { operatorSchema, presentOperator } from '../presenters/operator.ts';
import { toSeconds } from '../presenters/unix-seconds.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

interface Deps extends Pick<RouteDeps, 'operators' | 'invitations' | 'now'> {
  readonly operatorAuth: OperatorAuth;
}

export function inviteOperator({ operators, operatorAuth, invitations, now }: Deps): Route {
  return adminRoute({
    operationId: 'inviteOperator',
    access: 'access',
    summary: 'Invite an operator',
    description:
      'The link shows a token once to the first person who uses it. Nobody else ever sees that token. Operators can grant only roles that they have themselves. A new invitation for the same name replaces an unused one.',
    method: 'post',
    paths: ['/admin/v1/operators/invitations'],
    input: z.object({
      body: newOperatorBody.extend({ valid_seconds: linkValidSeconds.default(linkSecondsDefault) }),
    }),
    success: {
      description: 'The invited operator, and the link.',
      schema: operatorSchema.extend(linkSchema),
    },
    errors: ['operator_exists'],
    async handle({ body: { name, roles: words, valid_seconds }, operator: by, roles: own }) {
      const roles = rolesOf(words);
      if (!mayGrant({ roles: own }, roles)) throw grantsMore(by, roles);
      const { token, invitation } = invitations.invite(valid_seconds);
      // Nobody receives this token, because the token issued through the link replaces it.
      const { hmac } = operatorAuth.newToken();
      const at = now();
      const invited = { name, roles, hmac, prefix: '', createdAt: at, createdBy: by, invitation };
      await insertOrThrow(invited, operators);
      return jsonReply({
        ...presentOperator(invited, at),
        link: linkOf('console', token),
        link_expires_at: toSeconds(invitation.expiresAt),
      });
    },
  });
}

function grantsMore(name: string, roles: readonly string[]): GatewayError {
  return new GatewayError(
    'operator_not_allowed',
    `The operator ${name} can grant only its own roles, which do not include all of ${roles.join(', ')}.`,
    { param: 'roles' },
  );
}
