import { z } from 'zod';
import { operatorRoles } from '../../base/operator.ts';
import type { Operator } from '../../store/operators.ts';
import { secondsOrNull, toSeconds, unixSeconds } from './unix-seconds.ts';

export const operatorSchema = z
  .object({
    object: z.literal('operator'),
    name: z.string(),
    roles: z.array(z.enum(operatorRoles)),
    prefix: z.string().meta({ description: "The token's first characters, to recognise it by." }),
    created_at: unixSeconds(),
    created_by: z.string(),
    last_used_at: unixSeconds('To the minute; null: never.').nullable(),
    revoked_at: unixSeconds().nullable(),
    revoked_by: z.string().nullable(),
  })
  .meta({ id: 'Operator' });

export function presentOperator(operator: Operator): z.output<typeof operatorSchema> {
  const { name, roles, prefix, createdAt, createdBy, lastUsedAt, revokedAt, revokedBy } = operator;
  return {
    object: 'operator',
    name,
    roles: [...roles],
    prefix,
    created_at: toSeconds(createdAt),
    created_by: createdBy,
    last_used_at: secondsOrNull(lastUsedAt),
    revoked_at: secondsOrNull(revokedAt),
    revoked_by: revokedBy ?? null,
  };
}
