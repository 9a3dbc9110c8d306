import { z } from 'zod';
import { GatewayError } from '../../domain/errors.ts';
import type { RouteDeps } from '../deps.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

/** Absent where the configuration cannot be reloaded. */
export function reloadConfig(reload: NonNullable<RouteDeps['reloadConfig']>): Route {
  return adminRoute({
    operationId: 'reloadConfig',
    summary: 'Reload gateway.yaml',
    description: 'On this node. A bad file leaves the running configuration in force.',
    tag: 'Operators',
    method: 'post',
    paths: ['/admin/v1/config/reload'],
    input: z.object({}),
    success: {
      description: 'The fingerprint of the file that is in force now.',
      schema: z.object({ object: z.literal('config'), version: z.string() }),
    },
    errors: ['invalid_parameter'],
    async handle() {
      const result = await reload();
      if (result.ok) return jsonReply({ object: 'config', version: result.version });
      throw new GatewayError('invalid_parameter', `The file was not loaded: ${result.violations.join('; ')}`);
    },
  });
}
