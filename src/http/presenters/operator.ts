import { z } from 'zod';
import { operatorRoles } from '../../domain/operator.ts';
import type { Operator } from '../../store/operators.ts';
import { toSeconds } from './video-task.ts';

export const operatorSchema = z
  .object({
    object: z.literal('operator'),
    name: z.string(),
    role: z.enum(operatorRoles),
    prefix: z.string().meta({ description: "The token's first characters, to recognise it by." }),
    created_at: z.int(),
    created_by: z.string(),
    last_used_at: z.int().nullable().meta({ description: 'To the minute; null: never.' }),
    revoked_at: z.int().nullable(),
    revoked_by: z.string().nullable(),
  })
  .meta({ id: 'Operator' });

export function presentOperator(operator: Operator): z.output<typeof operatorSchema> {
  const { name, role, prefix, createdAt, createdBy, lastUsedAt, revokedAt, revokedBy } = operator;
  return {
    object: 'operator',
    name,
    role,
    prefix,
    created_at: toSeconds(createdAt),
    created_by: createdBy,
    last_used_at: lastUsedAt === undefined ? null : toSeconds(lastUsedAt),
    revoked_at: revokedAt === undefined ? null : toSeconds(revokedAt),
    revoked_by: revokedBy ?? null,
  };
}
