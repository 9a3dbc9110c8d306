import { z } from 'zod';
import { operatorRoles } from '../../base/operator.ts';
import { isOpen, isUnused } from '../../base/invitation.ts';
import type { Operator } from '../../store/operators.ts';
import { secondsOrNull, toSeconds, unixSeconds } from './unix-seconds.ts';

const operatorStates = ['active', 'invited', 'expired', 'revoked'] as const;

export const operatorSchema = z
  .object({
    object: z.literal('operator'),
    name: z.string(),
    roles: z.array(z.enum(operatorRoles)),
    state: z.enum(operatorStates).meta({
      description: '`expired`: the invitation was not used in time.',
    }),
    prefix: z.string().meta({
      description:
        'The first characters of the token, which help you recognise it. Empty until an invitation is used.',
    }),
    created_at: unixSeconds(),
    created_by: z.string(),
    invitation_expires_at: unixSeconds('Null if there is no invitation that can still be used.').nullable(),
    last_used_at: unixSeconds('Accurate to the minute. Null if the token was never used.').nullable(),
    revoked_at: unixSeconds().nullable(),
    revoked_by: z.string().nullable(),
  })
  .meta({ id: 'Operator' });

export function presentOperator(operator: Operator, now: number): z.output<typeof operatorSchema> {
  const { name, roles, prefix, invitation, createdAt, createdBy, lastUsedAt, revokedAt, revokedBy } =
    operator;
  return {
    object: 'operator',
    name,
    roles: [...roles],
    state: stateOf(operator, now),
    prefix,
    created_at: toSeconds(createdAt),
    created_by: createdBy,
    invitation_expires_at: isOpen(operator, now) ? secondsOrNull(invitation?.expiresAt) : null,
    last_used_at: secondsOrNull(lastUsedAt),
    revoked_at: secondsOrNull(revokedAt),
    revoked_by: revokedBy ?? null,
  };
}

function stateOf(operator: Operator, now: number): (typeof operatorStates)[number] {
  if (operator.revokedAt !== undefined) return 'revoked';
  if (!isUnused(operator)) return 'active';
  return isOpen(operator, now) ? 'invited' : 'expired';
}
