import { z } from 'zod';
import { adminName, rolePresets, roleWords } from '../base/operator.ts';
import { roleMeanings } from '../base/role-meanings.js';
import { GatewayError } from '../errors/errors.ts';
import type { Operator, OperatorStore } from '../store/operators.ts';
import { optionalReason } from './admin-input.ts';

const nameCharactersMax = 64;

export const rolesSchema = z
  .array(z.enum(roleWords))
  .max(roleWords.length)
  .meta({
    description: `Roles: ${describe(roleMeanings)}. Presets for multiple roles: ${describe(rolePresets)}.`,
  });

export const newOperatorBody = z.object({
  name: z
    .string()
    .max(nameCharactersMax)
    .refine(
      (name) => /^[a-z0-9][a-z0-9._@-]*$/.test(name),
      'may contain only lowercase letters, digits, dots, dashes, underscores and @',
    )
    .meta({ description: 'Every record of the operator’s actions contains this name.' }),
  roles: rolesSchema.default(['read']),
  reason: optionalReason,
});

function describe(named: Readonly<Record<string, string | readonly string[]>>): string {
  return Object.entries(named)
    .map(([name, meaning]) => `\`${name}\`: ${[meaning].flat().join(', ')}`)
    .join('; ');
}

/** The error for unknown and revoked operators. */
export function operatorNotFound(): GatewayError {
  return new GatewayError('operator_not_found', 'There is no operator with this name.', {
    param: 'operator',
  });
}

/** Throws operator_exists if another operator, or the holder of ADMIN_TOKEN, has this name. */
export async function insertOrThrow(
  operator: Operator,
  operators: Pick<OperatorStore, 'insert'>,
): Promise<void> {
  const { name } = operator;
  if (name === adminName || !(await operators.insert(operator)))
    throw new GatewayError('operator_exists', `The operator ${name} already exists.`, { param: 'name' });
}
